"""Starts the program under mpirun for the tests: more ranks than cores, as root or not, never without an end."""
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
import support  # noqa: E402

MPIRUN = os.environ.get("COPPICE_TEST_MPIRUN") or shutil.which("mpirun")
# ob1: no search for fabrics at start; yield: ranks share cores here.
BASE = ("--oversubscribe", "--mca", "pml", "ob1", "--mca", "mpi_yield_when_idle", "1")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIMIT = 90  # seconds for the whole of one mpirun


class MpiTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        # Short: Open MPI keeps sockets below it.
        self.session = self.dir / "s"
        self.session.mkdir()

    def mpi_command(self, ranks, *args, options=(), program=None):
        return ["timeout", "-k", "5", str(LIMIT), MPIRUN, *BASE, *options, "-n", str(ranks),
                *map(str, program or self.command(*args))]

    def environment(self, env=None):
        return support.clean_environment() | ROOT | {"TMPDIR": str(self.session)} | (env or {})

    def mpirun(self, ranks, *args, env=None, **options):
        return subprocess.run(self.mpi_command(ranks, *args, **options), env=self.environment(env),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace",
                              timeout=LIMIT + 30, check=False)

    def mpi_ok(self, ranks, *args, **options):
        run = self.mpirun(ranks, *args, **options)
        self.assertEqual(run.returncode, 0, f"{ranks} ranks {args}\n{run.stdout}\n{run.stderr}")
        return run

    def mpi_start(self, ranks, *args, env=None, **options):
        """A running mpirun (behind timeout); ours() gives its ranks."""
        process = subprocess.Popen(self.mpi_command(ranks, *args, **options), env=self.environment(env),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors="backslashreplace")
        self.addCleanup(self.reap_world, process)
        return process

    def reap_world(self, process):
        if process.poll() is None:
            for pid in self.ranks_of(process):
                self.kill(pid)
            mpirun = self.mpirun_of(process)
            if mpirun:
                self.kill(mpirun)
            process.kill()
        process.communicate()

    @staticmethod
    def kill(pid, number=signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    @staticmethod
    def children(pid):
        try:
            text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [int(child) for child in text.split()]

    def mpirun_of(self, process):
        return next(iter(self.children(process.pid)), None)

    def ranks_of(self, process):
        """Process ids of the ranks, by rank."""
        mpirun = self.mpirun_of(process)
        return self.children(mpirun) if mpirun else []

    def wait_for(self, what, process):
        end = time.monotonic() + LIMIT
        while not what():
            self.assertIsNone(process.poll(), "mpirun has ended early")
            self.assertLess(time.monotonic(), end, "nothing happens")
            time.sleep(0.01)

    def wait_until_growing(self, process, key, ranks):
        """All ranks are there and computing: the key file exists and each has used some CPU since."""
        self.wait_for(lambda: (key / "key.key").exists() and len(self.ranks_of(process)) == ranks, process)
        pids = self.ranks_of(process)
        before = [self.cpu_ticks(pid) for pid in pids]
        self.wait_for(lambda: all(self.cpu_ticks(p) - b > 20 for p, b in zip(pids, before)), process)
        return pids

    @staticmethod
    def cpu_ticks(pid):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            return 1 << 40
        return int(fields[11]) + int(fields[12])

    def ours(self, text):
        """Our own lines among those of mpirun."""
        return [line for line in text.splitlines() if line.startswith("coppice: ")]
