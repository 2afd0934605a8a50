"""Memory of the largest tree: each rank stays below 256 MiB and the cache, at any time."""
import os
import signal
import time
from pathlib import Path

from launch import MpiTest  # first: it makes support known
import support

BOUND = 256 << 20
SECONDS = 10


class Memory(MpiTest):
    @staticmethod
    def peak(pid):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
        return 0

    def test_height_25(self):
        """Watched for some seconds: all that grows with the height is there from the start."""
        key = self.dir / "key"
        cache_bytes = ((2 << 17) - 1) * 24
        process = self.mpi_start(2, "keygen", "--params", "25/1", "--hash", "sha256-192", "--out", key)
        pids = self.wait_until_growing(process, key, 2)
        end = time.monotonic() + SECONDS
        peaks = [0, 0]
        while time.monotonic() < end:
            self.assertIsNone(process.poll())
            peaks = [max(old, self.peak(pid)) for old, pid in zip(peaks, pids)]
            time.sleep(0.2)
        for peak in peaks:
            self.assertGreater(peak, 1 << 20)
            self.assertLess(peak, BOUND + cache_bytes)
        os.kill(self.mpirun_of(process), signal.SIGUSR1)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, support.INTERRUPTED)
        self.assertEqual(self.inspect(key / "key.key")["status"], "generating")

    def test_whole_tree_with_a_deep_cache(self):
        """H15 with every node but the leaves kept: what rank 0 holds is the cache a few times over."""
        key = self.dir / "key"
        run = self.mpi_ok(2, "keygen", "--params", "15/1", "--hash", "sha256-192", "--cache", "14", "--out", key,
                          "--format", "json")
        result = support.json.loads(run.stdout)
        for rank in result["layout"]:
            self.assertLess(int(rank["peak_memory_bytes"]), BOUND + int(result["cache_bytes"]))
        estimate = support.json.loads(self.ok("keygen", "--params", "15/1", "--hash", "sha256-192", "--cache", "14",
                                              "--dry-run", "--format", "json").stdout)
        self.assertLess(int(estimate["memory_bytes_per_rank"]), BOUND + int(result["cache_bytes"]))


if __name__ == "__main__":
    support.main()
