"""Ranks that fail, die or are stopped: all end, the reason is named, and the key can be resumed."""
import os
import signal
import socket
import time
from pathlib import Path

from launch import MpiTest  # first: it makes support known
import support
from support import FIXED, INTERRUPTED

LONG = ("--params", "15/8", "--threads", "1", "--kernel", "portable")  # seconds of work: time to be hit
KEYGEN = ("keygen", *LONG, *FIXED)


class Faults(MpiTest):
    wanted = None

    def public_key(self):
        """The key of an uninterrupted run of one process on the fastest kernel."""
        if Faults.wanted is None:
            Faults.wanted = (self.keygen(*FIXED, params="15/8", out="whole") / "key.pub").read_bytes()
        return Faults.wanted

    def start(self, ranks, **options):
        key = self.dir / "key"
        process = self.mpi_start(ranks, *KEYGEN, "--out", key, **options)
        return process, key, self.wait_until_growing(process, key, ranks)

    def ended(self, process):
        stdout, stderr = process.communicate(timeout=60)  # a guard against hanging, not a promise
        self.assertEqual(self.alive(self.pids), [], "ranks were left behind")
        return process.returncode, stdout, stderr

    @staticmethod
    def alive(pids):
        end = time.monotonic() + 10
        while True:
            left = [p for p in pids if os.path.exists(f"/proc/{p}")]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.05)

    def resumes(self, key, ranks):
        self.assertEqual(self.inspect(key / "key.key")["status"], "generating")
        args = ("keygen", "--params", "15/8", *FIXED, "--out", key, "--resume")
        if ranks == 1:
            self.ok(*args)
        else:
            self.mpi_ok(ranks, *args)
        self.assertEqual((key / "key.pub").read_bytes(), self.public_key())
        self.sign(key, "sig", "--force")
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig"), 0)

    def test_killed_rank(self):
        for victim, ranks in ((2, 2), (0, 1)):
            process, key, self.pids = self.start(3)
            os.kill(self.pids[victim], signal.SIGKILL)
            code, stdout, _ = self.ended(process)
            self.assertNotEqual(code, 0)
            self.assertEqual(stdout, "")
            self.resumes(key, ranks)
            support.shutil.rmtree(key)

    def test_hung_rank_is_named(self):
        """A rank that is stopped says nothing any more: rank 0 names it and ends all."""
        process, key, self.pids = self.start(3)
        start = time.monotonic()
        os.kill(self.pids[2], signal.SIGSTOP)
        code, stdout, stderr = self.ended(process)
        self.assertEqual((code, stdout), (support.UNAVAILABLE, ""), stderr)
        said = self.ours(stderr)
        self.assertEqual(len(said), 1, stderr)
        self.assertIn(f"rank 2 on {socket.gethostname()} has said nothing for 4.0 s", said[0])
        self.assertIn("growing units", said[0])
        self.assertGreater(time.monotonic() - start, 3)
        self.resumes(key, 2)

    def test_job_that_sleeps_is_not_hung(self):
        """All ranks are suspended for longer than the watchdog waits, as a batch system may do."""
        key = self.dir / "key"
        process = self.mpi_start(2, "keygen", "--params", "15/4", *LONG[2:], *FIXED, "--out", key)
        self.pids = self.wait_until_growing(process, key, 2)
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(6)
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)
        code, _, stderr = self.ended(process)
        self.assertEqual(code, 0, stderr)
        whole = self.keygen(*FIXED, params="15/4", out="whole15")
        self.assertEqual((key / "key.pub").read_bytes(), (whole / "key.pub").read_bytes())

    def test_user_signal_to_mpirun(self):
        process, key, self.pids = self.start(2)
        os.kill(self.mpirun_of(process), signal.SIGUSR1)
        code, stdout, stderr = self.ended(process)
        self.assertEqual((code, stdout), (INTERRUPTED, ""), stderr)
        self.assertEqual(len(self.ours(stderr)), 1, stderr)
        self.assertIn("--resume", stderr)
        self.resumes(key, 3)

    def test_user_signal_to_one_rank(self):
        process, key, self.pids = self.start(3)
        os.kill(self.pids[1], signal.SIGUSR1)
        code, stdout, stderr = self.ended(process)
        self.assertEqual((code, stdout), (INTERRUPTED, ""), stderr)
        self.assertEqual(len(self.ours(stderr)), 1, stderr)
        self.resumes(key, 1)

    def test_termination_of_mpirun(self):
        process, key, self.pids = self.start(2)
        os.kill(self.mpirun_of(process), signal.SIGTERM)
        code, stdout, _ = self.ended(process)
        self.assertNotEqual(code, 0)
        self.assertEqual(stdout, "")
        self.resumes(key, 2)

    def test_mpirun_itself_killed(self):
        process, key, self.pids = self.start(2)
        os.kill(self.mpirun_of(process), signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertEqual(self.alive(self.pids), [])
        self.resumes(key, 1)

    def test_stop_between_many_ranks_and_one_finished(self):
        """Everything at once: more ranks than units of some of them, and a signal before the work."""
        key = self.dir / "key"
        process = self.mpi_start(5, *KEYGEN, "--out", key)
        self.wait_for(lambda: (key / "key.key").exists(), process)
        self.pids = self.ranks_of(process)
        os.kill(self.mpirun_of(process), signal.SIGUSR1)
        code, _, stderr = self.ended(process)
        self.assertEqual(code, INTERRUPTED, stderr)
        self.assertEqual(len(self.ours(stderr)), 1, stderr)
        self.resumes(key, 2)


class OneRankFails(MpiTest):
    def other_version(self):
        """The program with another version in it, as on a host that was not updated."""
        data = Path(support.PROGRAM).read_bytes()
        version = self.ok("--version").stdout.split()[1].encode()
        changed = data.replace(version + b"\0", bytes([version[0] + 1]) + version[1:] + b"\0")
        self.assertNotEqual(changed, data)
        program = self.dir / "older"
        program.write_bytes(changed)
        program.chmod(0o755)
        return program

    def test_the_reason_has_rank_host_and_phase(self):
        key = self.dir / "key"
        args = [str(a) for a in ("keygen", *LONG, "--out", key)]
        world = [support.PROGRAM, *args, ":", "-n", "1", self.other_version(), *args, ":", "-n", "1", support.PROGRAM,
                 *args]
        run = self.mpirun(1, program=world)
        self.assertEqual(run.returncode, 78, run.stderr)
        self.assertEqual(run.stdout, "")
        said = self.ours(run.stderr)
        self.assertEqual(len(said), 1, run.stderr)
        self.assertIn(f"rank 1 on {socket.gethostname()}, ", said[0])
        self.assertIn("starting the key", said[0])
        self.assertIn("version", said[0])

    def test_kernel_of_rank_zero_counts(self):
        """Settings come from rank 0: what another rank's environment says changes nothing."""
        key = self.dir / "key"
        args = [str(a) for a in ("keygen", "--params", "5/8", *FIXED, "--out", key)]
        world = [support.PROGRAM, *args, ":", "-n", "1", "env", "COPPICE_KERNEL=abacus", support.PROGRAM, *args]
        self.mpi_ok(1, program=world)
        whole = self.keygen(*FIXED, out="whole")
        self.assertEqual((key / "key.pub").read_bytes(), (whole / "key.pub").read_bytes())

    def test_kernel_of_rank_zero_is_checked_for_all(self):
        key = self.dir / "key"
        args = [str(a) for a in ("keygen", "--params", "5/8", "--out", key)]
        world = ["env", "COPPICE_KERNEL=abacus", support.PROGRAM, *args, ":", "-n", "2", support.PROGRAM, *args]
        run = self.mpirun(1, program=world)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(len(self.ours(run.stderr)), 1, run.stderr)
        self.assertFalse(key.exists())

    def test_wrong_settings_of_one_rank(self):
        """A rank that cannot read its own command line ends all, with the code of a usage error."""
        key = self.dir / "key"
        args = [str(a) for a in ("keygen", "--params", "5/8", "--out", key)]
        world = [support.PROGRAM, *args, ":", "-n", "1", "env", "COPPICE_THREADS=many", support.PROGRAM, *args]
        run = self.mpirun(1, program=world)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertFalse(key.exists())


if __name__ == "__main__":
    support.main()
