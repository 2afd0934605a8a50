"""Common ground of the program's tests: runs it in a folder of its own and reads what it leaves there.

A test file is a unittest module that ends in support.main(). The program comes in COPPICE_TEST_PROGRAM;
every other variable of it, of MPI and of Slurm is taken out of the environment.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("COPPICE_TEST_PROGRAM", "")
GUARD = 120  # seconds after which something hangs; no assertion on time

SEED = "00112233445566778899aabbccddeeffffeeddccbbaa99887766554433221100"
SEED24 = SEED[:48]
IDENTIFIER = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
FIXED = ("--insecure-seed", SEED, "--insecure-identifier", IDENTIFIER)

EXISTS, IO, BAD_DATA, UNAVAILABLE, INTERRUPTED, PERMISSION = 73, 74, 65, 69, 75, 77


def clean_environment():
    foreign = ("COPPICE_", "OMPI_", "PMIX_", "PMI_", "SLURM_", "OMP_")
    return {k: v for k, v in os.environ.items() if not k.startswith(foreign)}


def snapshot(folder):
    """Names and contents below a folder, to be compared before and after."""
    folder = Path(folder)
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
            for p in sorted(folder.rglob("*"))}


class ProgramTest(unittest.TestCase):
    """Every test has an empty folder, self.dir, and a message in it."""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="coppice-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.message = self.dir / "message"
        self.message.write_bytes(b"a message\n")

    def command(self, *args):
        return [PROGRAM, *map(str, args)]

    def call(self, *args, env=None, prefix=(), **options):
        """Runs the program to its end; stdin is empty."""
        environment = clean_environment() | (env or {})
        return subprocess.run([*map(str, prefix), *self.command(*args)], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace",
                              timeout=GUARD, **options)

    def ok(self, *args, **options):
        run = self.call(*args, **options)
        self.assertEqual(run.returncode, 0, f"{args}\n{run.stdout}\n{run.stderr}")
        return run

    def refused(self, code, *args, says=(), out="", **options):
        """The exit code, nothing on stdout, and one line on stderr that says why."""
        run = self.call(*args, **options)
        shown = f"{args}\n{run.stdout}\n{run.stderr}"
        self.assertEqual(run.returncode, code, shown)
        self.assertEqual(run.stdout, out, shown)
        self.assertEqual(run.stderr.count("\n"), 1, shown)
        self.assertTrue(run.stderr.startswith("coppice: "), shown)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, run.stderr)
        return run

    def start(self, *args, env=None, **options):
        """Starts the program; it is killed at the end of the test if it still runs."""
        process = subprocess.Popen(self.command(*args), env=clean_environment() | (env or {}),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.reap, process)
        return process

    @staticmethod
    def reap(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def keygen(self, *args, params="5/8", out="key", **options):
        """A new key; its folder comes back, the files in it are key.key and so on."""
        folder = self.dir / out
        self.ok("keygen", "--params", params, "--out", folder, *args, **options)
        return folder

    def sign_args(self, folder, sig, message=None):
        return ("sign", "--key", folder / "key.key", "--in", message or self.message, "--sig", sig)

    def sign(self, folder, sig, *args, message=None, **options):
        sig = self.dir / sig
        self.ok(*self.sign_args(folder, sig, message), *args, **options)
        return sig.read_bytes()

    def verify(self, pub, sig, message=None, **options):
        """The exit code of verify: 0 valid, 1 not."""
        return self.call("verify", "--pub", pub, "--in", message or self.message, "--sig", sig,
                         **options).returncode

    def json(self, *args, **options):
        return json.loads(self.ok(*args, "--format", "json", **options).stdout)

    def inspect(self, file):
        return self.json("inspect", file)


def main():
    if not PROGRAM:
        sys.exit("COPPICE_TEST_PROGRAM is not set")
    unittest.main(verbosity=2)
