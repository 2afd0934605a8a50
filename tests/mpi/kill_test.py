"""kill -9 of a random rank at a random time, again and again: every resumed key is the uninterrupted one."""
import os
import random
import signal
import time

from launch import MpiTest  # first: it makes support known
import support
from support import FIXED

KILLS = int(os.environ.get("COPPICE_TEST_KILLS", "12"))
MOST_PER_KEY = 4
PARAMS = ("--params", "15/8", "--cache", "11")
SLOW = ("--kernel", "portable", "--threads", "1")  # more work than the longest wait: every kill hits


class Kills(MpiTest):
    def test_random_kills(self):
        random.seed()
        seed = random.randrange(1 << 30)
        print(f"seed {seed}, {KILLS} kills", flush=True)
        draw = random.Random(seed)
        wanted = self.keygen(*FIXED, *PARAMS[2:], params="15/8", out="whole")
        kills = resumed = keys = 0
        while kills < KILLS:
            keys += 1
            key = self.dir / f"key{keys}"
            for _ in range(draw.randint(1, MOST_PER_KEY)):
                process = self.mpi_start(draw.randint(1, 3), "keygen", *PARAMS, *FIXED, *SLOW, "--out", key, "--resume")
                time.sleep(draw.uniform(0.2, 4))
                ranks = self.ranks_of(process)
                if ranks:
                    self.kill(draw.choice(ranks), signal.SIGKILL)
                process.communicate(timeout=60)
                kills += process.returncode != 0  # else the run had ended before
            run = self.mpi_ok(draw.randint(1, 3), "keygen", *PARAMS, *FIXED, "--out", key, "--resume", "--format", "json")
            result = support.json.loads(run.stdout)
            resumed += int(result["units_resumed"]) > 0
            for name in ("key.pub", "key.cache"):
                ours, theirs = (folder / name for folder in (key, wanted))
                if name == "key.cache":  # the key id in its head differs, and the sum at its end
                    self.assertEqual(ours.read_bytes()[64:-32], theirs.read_bytes()[64:-32])
                else:
                    self.assertEqual(ours.read_bytes(), theirs.read_bytes())
            self.assertEqual(sorted(p.name for p in key.iterdir() if not p.name.startswith(".coppice-")),
                             ["key.cache", "key.key", "key.pub", "key.state"])
            support.shutil.rmtree(key)
        print(f"{kills} kills, {keys} keys, {resumed} of them went on from finished units", flush=True)
        self.assertGreater(resumed, keys // 4)  # units are synchronised after two seconds


if __name__ == "__main__":
    support.main()
