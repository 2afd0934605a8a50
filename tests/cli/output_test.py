"""Files that exist, folders that cannot be written, modes, and seeds that stay where they belong."""
import os
import stat
import unittest

import support
from support import EXISTS, FIXED, PERMISSION, SEED, snapshot

KEYGEN = ("keygen", "--params", "5/8", "--out")
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def can_drop_rights():
    return os.geteuid() == 0 and support.shutil.which("setpriv") is not None


class Existing(support.ProgramTest):
    def test_keygen_twice(self):
        key = self.keygen()
        before = snapshot(key)
        self.refused(EXISTS, *KEYGEN, key)
        self.refused(EXISTS, *KEYGEN, key, "--force", says=("ledger", "--force"))
        self.assertEqual(snapshot(key), before)
        self.ok(*KEYGEN, key, "--name", "other")
        self.assertEqual({k: v for k, v in snapshot(key).items() if k.startswith("key.")}, before)

    def test_each_file_alone_is_in_the_way(self):
        for name in ("key", "pub", "cache", "state"):
            folder = self.dir / name
            folder.mkdir()
            (folder / f"key.{name}").write_bytes(b"precious")
            self.refused(EXISTS, *KEYGEN, folder, says=f"key.{name}")
            self.assertEqual(snapshot(folder), {f"key.{name}": b"precious"})
        self.refused(EXISTS, *KEYGEN, self.dir / "state", "--force", says="ledger")
        self.assertEqual(snapshot(self.dir / "state"), {"key.state": b"precious"})
        self.refused(EXISTS, *KEYGEN, self.dir / "state", "--resume", says="ledger")

    def test_dangling_links_are_in_the_way(self):
        for name in ("key", "state"):
            folder = self.dir / name
            folder.mkdir()
            (folder / f"key.{name}").symlink_to(self.dir / "elsewhere")
            self.refused(EXISTS, *KEYGEN, folder)
            self.assertFalse((self.dir / "elsewhere").exists())

    def test_journal_without_its_ledger(self):
        # SQLite would play it into the new ledger: refused before the tree is grown, not after.
        for suffix in ("-journal", "-wal"):
            folder = self.dir / suffix
            folder.mkdir()
            (folder / ("key.state" + suffix)).write_bytes(b"left")
            self.refused(EXISTS, *KEYGEN, folder, says=suffix)
            self.assertEqual(sorted(snapshot(folder)), ["key.state" + suffix])

    def test_force_replaces_all_but_the_ledger(self):
        key = self.keygen()
        (key / "key.state").rename(self.dir / "ledger")
        old = snapshot(key)
        self.ok(*KEYGEN, key, "--force")
        new = snapshot(key)
        self.assertNotEqual(new["key.pub"], old["key.pub"])
        self.sign(key, "sig")
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig"), 0)

    def test_signature_is_not_replaced(self):
        key = self.keygen()
        self.sign(key, "sig")
        before = snapshot(self.dir)
        self.refused(EXISTS, *self.sign_args(key, self.dir / "sig"), says="--force")
        self.assertEqual(snapshot(self.dir), before)
        self.sign(key, "sig", "--force")
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig"), 0)

    def test_force_never_replaces_the_key_with_its_signature(self):
        key = self.keygen()
        before = snapshot(self.dir)
        for name in ("key.key", "key.state", "key.cache", "key.pub"):
            self.refused(2, *self.sign_args(key, key / name), "--force", says=name)
        self.refused(2, *self.sign_args(key, self.message), "--force", says="message")
        (self.dir / "same").symlink_to(key)
        self.refused(2, *self.sign_args(key, self.dir / "same" / "key.state"), "--force")
        self.assertEqual(snapshot(key), {k[4:]: v for k, v in before.items() if k.startswith("key/")})
        (key / "key.cache").unlink()  # a missing cache is written by the signer: the name is taken
        self.refused(2, *self.sign_args(key, key / "key.cache"))
        self.assertEqual(self.inspect(key / "key.key")["next_index"], "0")

    def test_out_is_a_file(self):
        self.refused(EXISTS, *KEYGEN, self.message)
        self.refused(EXISTS, *KEYGEN, self.message / "below")
        self.assertEqual(sorted(snapshot(self.dir)), ["message"])


class Rights(support.ProgramTest):
    def test_private_from_the_first_moment(self):
        key = self.keygen(preexec_fn=lambda: os.umask(0), out="deep/key")
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in key.iterdir()}
        self.assertEqual(modes, {"key.key": 0o600, "key.cache": 0o600, "key.state": 0o600,
                                 "key.pub": 0o644})
        self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(key.parent.stat().st_mode), 0o700)
        self.ok(*self.sign_args(key, self.dir / "sig"), preexec_fn=lambda: os.umask(0))
        self.assertEqual(stat.S_IMODE((key / "key.state").stat().st_mode), 0o600)

    @unittest.skipUnless(support.shutil.which("strace"), "strace is not here")
    def test_no_file_is_opened_wider(self):
        log = self.dir / "log"
        self.keygen(prefix=("strace", "-f", "-qq", "-e", "trace=openat,open,chmod,fchmod,fchmodat",
                            "-o", log), preexec_fn=lambda: os.umask(0))
        made = [line for line in log.read_text().splitlines()
                if "O_CREAT" in line and str(self.dir) in line or ".coppice-" in line and "O_CREAT" in line]
        self.assertGreaterEqual(len(made), 4)
        self.assertEqual([line for line in made if not line.split(") =")[0].endswith(("0600", "0644"))], [])
        self.assertEqual([line for line in log.read_text().splitlines() if "chmod" in line], [])

    @unittest.skipUnless(can_drop_rights(), "not root with setpriv: rights cannot be dropped")
    def test_unwritable_folder(self):
        self.dir.chmod(0o755)
        key = self.keygen()
        for path in (key, *key.iterdir()):
            os.chown(path, 65534, 65534)
        closed = self.dir / "closed"
        closed.mkdir()
        before = snapshot(self.dir)
        self.refused(PERMISSION, *KEYGEN, closed, prefix=NOBODY, says=str(closed))
        self.refused(PERMISSION, *KEYGEN, closed / "new", prefix=NOBODY, says=str(closed))
        self.refused(PERMISSION, *self.sign_args(key, closed / "sig"), prefix=NOBODY, says=str(closed))
        os.chown(key / "key.state", 0, 0)
        self.refused(PERMISSION, *self.sign_args(key, key / "sig"), prefix=NOBODY, says="key.state")
        os.chown(key / "key.state", 65534, 65534)
        os.chown(key / "key.key", 0, 0)
        self.refused(PERMISSION, *self.sign_args(key, key / "sig"), prefix=NOBODY, says="key.key")
        self.assertEqual(snapshot(self.dir), before)


class Secrets(support.ProgramTest):
    def test_seeds_are_never_printed(self):
        key = self.keygen(*FIXED)
        seed = bytes.fromhex(SEED)
        shown = []
        for arguments in ((*KEYGEN, self.dir / "b", *FIXED, "-v", "-v"),
                          (*KEYGEN, self.dir / "c", *FIXED, "--format", "json"),
                          (*KEYGEN, key, *FIXED), ("inspect", key / "key.key"),
                          ("inspect", key / "key.key", "--format", "json"),
                          (*self.sign_args(key, self.dir / "s"), "-v", "-v"),
                          (*KEYGEN, self.dir / "d", "--insecure-seed", SEED + "00",
                           "--insecure-identifier", "00"),
                          (*KEYGEN, self.dir / "d", "--insecure-seed", SEED + "g",
                           "--insecure-identifier", "00")):
            run = self.call(*arguments)
            shown.append(run.stdout + run.stderr)
        for text in shown:
            self.assertNotIn(SEED[:16].lower(), text.lower())
        for name in ("key.pub", "key.cache", "key.state"):
            self.assertNotIn(seed[:8], (key / name).read_bytes())
        self.assertNotIn(seed[:8], (self.dir / "s").read_bytes())

    def test_random_seeds_differ(self):
        a, b = self.keygen(out="a"), self.keygen(out="b")
        self.assertNotEqual((a / "key.pub").read_bytes(), (b / "key.pub").read_bytes())

    def test_a_given_seed_is_marked(self):
        self.assertTrue(self.inspect(self.keygen(*FIXED) / "key.key")["insecure_seed"])
        self.assertFalse(self.inspect(self.keygen(out="safe") / "key.key")["insecure_seed"])
        self.assertIn("WARNING", self.ok("inspect", self.dir / "key/key.key").stdout)


class SignatureFiles(support.ProgramTest):
    def test_names_that_are_not_for_signatures(self):
        key = self.keygen()
        support.os.mkfifo(self.dir / "fifo")
        before = support.snapshot(key)
        for sig, says in ((key / "key.state-journal", "must not replace"), (key / "key.progress", "must not replace"),
                          (self.dir / "fifo", "a pipe"), ("/dev/null", "a device"), ("", "file name")):
            for force in ((), ("--force",)):
                self.refused(2, *self.sign_args(key, sig), *force, says=says)
        self.assertEqual(support.snapshot(key), before)

    def test_names_too_long(self):
        self.refused(2, "keygen", "--params", "5/8", "--out", self.dir / "k", "--name", "n" * 250, says="--name")
        deep = self.dir / ("d" * 200) / ("d" * 200) / ("d" * 200)
        self.refused(2, "keygen", "--params", "5/8", "--out", deep, says="shorter --out")


if __name__ == "__main__":
    support.main()
