"""Damaged, cut, foreign and missing files: every changed byte is found, and no index comes back."""
import os
import random
from concurrent.futures import ThreadPoolExecutor

import hss
import support
from support import BAD_DATA, IO, PERMISSION, snapshot

random.seed(5382)  # the same sample every time
WORKERS = os.cpu_count() or 1


class Damage(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.key = self.keygen("--cache", "3")
        self.first = hss.index(self.sign(self.key, "first"))

    def copy(self, number, name, data):
        """A copy of the key in which one file is replaced."""
        folder = self.dir / f"copy{number}"
        folder.mkdir()
        for file in self.key.iterdir():
            (folder / file.name).write_bytes(data if file.name == name else file.read_bytes())
        return folder

    def try_sign(self, number, name, data):
        folder = self.copy(number, name, data)
        run = self.call(*self.sign_args(folder, folder / "sig"))
        sig = folder / "sig"
        return run, hss.index(sig.read_bytes()) if sig.exists() else None

    def each(self, name, variants):
        """Signs with every variant; all must end with 65, one line and no signature."""
        with ThreadPoolExecutor(WORKERS) as pool:
            runs = pool.map(lambda v: (v[0], *self.try_sign(v[0], name, v[1])), enumerate(variants))
            for number, run, index in runs:
                shown = f"{name} variant {number}: {run.returncode} {run.stdout}{run.stderr}"
                self.assertEqual(run.returncode, BAD_DATA, shown)
                self.assertEqual(run.stderr.count("\n"), 1, shown)
                self.assertIn(name, run.stderr)
                self.assertIsNone(index, shown)

    @staticmethod
    def flips(data, positions):
        for at in positions:
            yield data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:]

    @staticmethod
    def cuts(data):
        for size in {0, 1, 7, 8, 11, 12, 31, 32, 64, len(data) // 2, len(data) - 33, len(data) - 1}:
            yield data[:size]
        yield data + b"\0"
        yield data + data

    def test_every_byte_of_the_key(self):
        data = (self.key / "key.key").read_bytes()
        self.each("key.key", self.flips(data, range(len(data))))

    def test_every_byte_of_the_cache(self):
        data = (self.key / "key.cache").read_bytes()
        self.each("key.cache", self.flips(data, range(len(data))))

    def test_cut_and_longer_files(self):
        for name in ("key.key", "key.cache"):
            self.each(name, self.cuts((self.key / name).read_bytes()))
            for folder in self.dir.glob("copy*"):
                support.shutil.rmtree(folder)

    def test_ledger_damage_never_brings_an_index_back(self):
        data = (self.key / "key.state").read_bytes()
        interesting = [i for i, b in enumerate(data) if b]
        sample = random.sample(interesting, min(110, len(interesting))) + random.sample(range(len(data)), 30)
        variants = list(self.flips(data, sample)) + list(self.cuts(data))
        with ThreadPoolExecutor(WORKERS) as pool:
            runs = list(pool.map(lambda v: self.try_sign(v[0], "key.state", v[1]), enumerate(variants)))
        for number, (run, index) in enumerate(runs):
            shown = f"variant {number}: {run.returncode} {run.stdout}{run.stderr}"
            # A byte that means nothing (a free page, a change counter) may go unnoticed; its index is new.
            # SQLite takes the header's write version for a file that may only be read.
            self.assertIn(run.returncode, (0, BAD_DATA, IO, PERMISSION), shown)
            if run.returncode == 0:
                self.assertEqual(index, self.first + 1, shown)
            else:
                self.assertIsNone(index, shown)
                self.assertEqual(run.stderr.count("\n"), 1, shown)
        self.assertGreater(sum(run.returncode != 0 for run, _ in runs), len(sample) // 2)

    def test_missing_ledger_is_refused(self):
        (self.key / "key.state").unlink()
        before = snapshot(self.dir)
        self.refused(IO, *self.sign_args(self.key, self.dir / "sig"), says="key.state")
        self.assertEqual(snapshot(self.dir), before)

    def test_missing_cache_is_grown_again(self):
        cache = (self.key / "key.cache").read_bytes()
        (self.key / "key.cache").unlink()
        run = self.ok(*self.sign_args(self.key, self.dir / "sig"))
        self.assertIn("key.cache", run.stderr)
        self.assertEqual((self.key / "key.cache").read_bytes(), cache)
        self.assertEqual(self.verify(self.key / "key.pub", self.dir / "sig"), 0)

    def test_files_of_another_key(self):
        other = self.keygen("--cache", "3", out="other")
        for name in ("key.cache", "key.state"):
            self.each(name, [(other / name).read_bytes()])
            support.shutil.rmtree(self.dir / "copy0")
        # The same seed again is another key too: two ledgers over one tree would sign twice.
        a = self.keygen(*support.FIXED, out="a")
        b = self.keygen(*support.FIXED, out="b")
        (a / "key.state").write_bytes((b / "key.state").read_bytes())
        self.refused(BAD_DATA, *self.sign_args(a, self.dir / "sig"), says=("key.state", "another key"))

    def test_kinds_mixed_up(self):
        kinds = {p.name: p.read_bytes() for p in self.key.iterdir()} | {"garbage": os.urandom(500)}
        for name in ("key.key", "key.cache", "key.state"):
            self.each(name, [data for kind, data in kinds.items() if kind != name])
            for folder in self.dir.glob("copy*"):
                support.shutil.rmtree(folder)

    def test_an_unfinished_key_does_not_sign(self):
        self.refused(BAD_DATA, *self.sign_args(self.copy(0, "key.key", self.unfinished()), self.dir / "s"),
                     says="--resume")

    def unfinished(self):
        """The key file as it is before its tree is grown: flag off, no root."""
        data = bytearray((self.key / "key.key").read_bytes())
        data[15] &= ~1
        data[168:200] = bytes(32)
        return bytes(data[:200]) + support.hashlib.sha256(bytes(data[:200])).digest()


if __name__ == "__main__":
    support.main()
