"""A full disk: code 74, nothing half written, and the same command works once there is room."""
import os
import subprocess
import sys
import unittest

import hss
import support
from support import IO, snapshot


def can_mount():
    """A file system of our own in a mount namespace of our own."""
    if os.geteuid() != 0 or not support.shutil.which("unshare"):
        return False
    probe = "mount -t tmpfs -o size=64k probe /mnt"
    return subprocess.run(["unshare", "-m", "sh", "-c", probe], capture_output=True, check=False).returncode == 0


INSIDE = "COPPICE_TEST_IN_NAMESPACE"


@unittest.skipUnless(os.environ.get(INSIDE), "mounting a small file system needs root and unshare")
class FullDisk(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.disk = self.dir / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "coppice", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)

    def fill(self, leave=0):
        """Takes all room but `leave` bytes."""
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
            filler.truncate(max(0, filler.tell() - leave))

    def free(self):
        (self.disk / "filler").unlink()

    def test_keygen(self):
        key = self.disk / "key"
        key.mkdir()
        for room in (0, 4096, 8192, 12288, 16384, 20480):  # each file in turn finds no room
            self.fill(room)
            run = self.call("keygen", "--params", "5/8", "--out", key, "--cache", "5", "--resume")
            names = sorted(p.name for p in key.iterdir())
            self.assertNotIn(".tmp", "".join(names))
            if run.returncode == 0:
                break
            self.assertEqual(run.returncode, IO, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertIn("space", run.stderr)
            if "key.key" in names:
                self.assertEqual(self.inspect(key / "key.key")["status"], "generating")
            self.free()
        if (self.disk / "filler").exists():
            self.free()
        self.ok("keygen", "--params", "5/8", "--out", key, "--cache", "5", "--resume")
        self.assertEqual(sorted(p.name for p in key.iterdir()), ["key.cache", "key.key", "key.pub", "key.state"])
        self.sign(key, "sig")
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig"), 0)

    def test_keygen_without_resume(self):
        self.fill()
        self.refused(IO, "keygen", "--params", "5/8", "--out", self.disk / "key", says="space")
        self.free()
        self.ok("keygen", "--params", "5/8", "--out", self.disk / "key")

    def test_no_room_for_the_signature(self):
        """The index of a signature that was lost is spent."""
        key = self.keygen()
        sig = self.disk / "sig"
        self.fill()
        before = snapshot(self.disk)
        self.refused(IO, *self.sign_args(key, sig), says=("sig", "space"))
        self.refused(IO, *self.sign_args(key, sig), says=("sig", "space"))
        self.assertEqual(snapshot(self.disk), before)
        self.free()
        self.ok(*self.sign_args(key, sig))
        self.assertGreaterEqual(hss.index(sig.read_bytes()), 1)
        self.assertEqual(self.verify(key / "key.pub", sig), 0)

    def test_no_room_for_the_ledger(self):
        """No index is durable, so nothing is signed and nothing is spent."""
        key = self.disk / "key"
        self.ok("keygen", "--params", "5/8", "--out", key)
        self.assertEqual(hss.index(self.sign(key, "first")), 0)
        self.fill()
        for _ in range(2):
            run = self.refused(IO, *self.sign_args(key, self.dir / "lost"))
            self.assertIn("key.state", run.stderr)
        self.assertFalse((self.dir / "lost").exists())
        self.free()
        self.assertGreaterEqual(hss.index(self.sign(key, "second")), 1)
        self.assertEqual(self.verify(key / "key.pub", self.dir / "second"), 0)

    def test_stdout_is_full(self):
        key = self.keygen()
        with open("/dev/full", "wb") as full:
            run = subprocess.run(self.command(*self.sign_args(key, self.dir / "sig")), stdout=full,
                                 stderr=subprocess.PIPE, env=support.clean_environment(), check=False)
        self.assertEqual(run.returncode, IO)
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig"), 0)  # the signature is there all the same


if __name__ == "__main__":
    if can_mount() and not os.environ.get(INSIDE):
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, "-B", __file__])
    support.main()
