"""The ledger: exhaustion, processes at once, kill -9 between signatures, copies; no index twice."""
import os
import random
import signal
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import hss
import support
from support import UNAVAILABLE, snapshot

random.seed(2414)


class Ledger(support.ProgramTest):
    def indices(self, folder, public_key):
        """Indices of all released signatures in `folder`; each of them must be a whole, valid one."""
        found = []
        for file in sorted(folder.iterdir()):
            signature = file.read_bytes()
            self.assertTrue(hss.verify(public_key, signature, self.message.read_bytes()), file)
            found.append(hss.index(signature))
        return found

    def test_exhaustion(self):
        key = self.keygen("--hash", "sha256-192")
        for number in range(32):
            self.assertEqual(hss.index(self.sign(key, f"sig{number}")), number)
            self.assertEqual(self.inspect(key / "key.key")["hss_keys_remaining"], str(31 - number))
        before = snapshot(self.dir)
        for _ in range(3):
            self.refused(UNAVAILABLE, *self.sign_args(key, self.dir / "more"), says=("key.state", "exhausted"))
        self.assertEqual(snapshot(self.dir), before)
        state = self.inspect(key / "key.key")
        self.assertEqual((state["status"], state["next_index"], state["hss_keys_remaining"]),
                         ("exhausted", "32", "0"))

    def test_last_signature_is_announced(self):
        key = self.keygen("--hash", "shake256-192", params="5/1")
        for number in range(31):
            self.sign(key, f"sig{number}")
        run = self.ok(*self.sign_args(key, self.dir / "last"))
        self.assertIn("last signature", run.stderr)

    def test_processes_at_once(self):
        key = self.keygen()
        sigs = self.dir / "sigs"
        sigs.mkdir()

        def signer(worker):
            codes = []
            for number in range(5):
                run = self.call(*self.sign_args(key, sigs / f"{worker}.{number}"))
                codes.append(run.returncode)
                if run.returncode:
                    self.assertIn("exhausted", run.stderr)
            return codes

        with ThreadPoolExecutor(8) as pool:
            codes = sum(pool.map(signer, range(8)), [])
        self.assertEqual((codes.count(0), codes.count(UNAVAILABLE)), (32, 8))
        self.assertEqual(sorted(self.indices(sigs, (key / "key.pub").read_bytes())), list(range(32)))

    def test_kill_between_signatures(self):
        key = self.keygen(params="10/4", out="key")
        sigs = self.dir / "sigs"
        sigs.mkdir()
        started = time.monotonic()
        self.sign(key, "probe")
        length = time.monotonic() - started
        for number in range(60):
            process = self.start(*self.sign_args(key, sigs / f"{number:03}"))
            time.sleep(random.uniform(0, 1.1 * length))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        for file in list(sigs.iterdir()):  # a temporary that was being written is no released signature
            if file.name.startswith(".coppice-"):
                file.unlink()
        indices = self.indices(sigs, (key / "key.pub").read_bytes())
        self.assertEqual(len(indices), len(set(indices)))
        self.assertNotIn(0, indices)  # the probe's
        last = self.sign(key, "after")
        self.assertGreater(hss.index(last), max(indices, default=0))
        self.assertLess(hss.index(last), 64)

    def test_stop_while_the_ledger_is_held(self):
        """Another writer holds the ledger: wait for it, and give up in one line."""
        key = self.keygen()
        other = sqlite3.connect(key / "key.state", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        self.addCleanup(other.close)
        self.refused(UNAVAILABLE, *self.sign_args(key, self.dir / "sig"), says="key.state")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["key", "message"])
        other.execute("ROLLBACK")
        self.assertEqual(hss.index(self.sign(key, "sig")), 0)

    def test_hot_journal_is_played_back(self):
        """A writer killed in its transaction: the state before it counts, and is not lost."""
        key = self.keygen()
        self.assertEqual(hss.index(self.sign(key, "first")), 0)
        script = ("import os, sqlite3, sys; d = sqlite3.connect(sys.argv[1], isolation_level=None);"
                  "d.execute('PRAGMA cache_size=1'); d.execute('BEGIN IMMEDIATE');"
                  "d.execute('CREATE TABLE junk AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 "
                  "FROM c LIMIT 20000) SELECT x, hex(randomblob(64)) FROM c'); os._exit(9)")
        subprocess.run([support.sys.executable, "-c", script, key / "key.state"], timeout=support.GUARD)
        self.assertTrue((key / "key.state-journal").exists())
        self.assertEqual(hss.index(self.sign(key, "second")), 1)
        self.assertFalse((key / "key.state-journal").exists())

    def test_a_second_name_for_the_ledger_is_refused(self):
        key = self.keygen()
        os.link(key / "key.state", self.dir / "alias.state")
        self.refused(support.BAD_DATA, *self.sign_args(key, self.dir / "sig"), says="key.state")

    def test_escape_codes_of_a_hostile_ledger_do_not_reach_the_terminal(self):
        key = self.keygen()
        other = sqlite3.connect(key / "key.state")
        other.execute('CREATE TABLE "\x1b[2J\nfoo\x07" (x)')
        other.commit()
        other.close()
        run = self.refused(support.BAD_DATA, *self.sign_args(key, self.dir / "sig"), says="key.state")
        self.assertNotRegex(run.stderr[:-1], r"[\x00-\x1f\x7f]")


if __name__ == "__main__":
    support.main()
