"""One seed, one key: the same public key, cache and root for every number of ranks and threads and every kernel."""
import hashlib
import re

from launch import MpiTest  # first: it makes support known
import support

RANKS, THREADS = (1, 2, 3, 5), (1, 2, 3)

# (params, hash, cache): heights 5 and 10, every W, both hashes, n = 32 and 24, and caches from the root alone
# down to the leaves, above and below the roots of the units.
SETS = [("5/8", "sha256", "0"), ("5/4", "sha256-192", "5"), ("10/2", "sha256", "2"), ("10/1", "sha256-192", "10"),
        ("5/2", "shake256", "3"), ("10/1", "shake256", "7"), ("5/4", "shake256-192", "5"), ("5/8", "shake256-192", "1"),
        ("10/4", "sha256", "4K")]


class SameKey(MpiTest):
    @classmethod
    def setUpClass(cls):
        version = support.subprocess.run([support.PROGRAM, "--version"], capture_output=True, text=True, check=True,
                                         env=support.clean_environment()).stdout
        cls.kernels = {h: re.findall(r"([\w-]+) x\d+", re.search(rf"^{h} (.*)$", version, re.M)[1])
                       for h in ("sha256", "shake256")}

    def args(self, which, folder, kernel, threads):
        params, hash_, cache = which
        seed = support.SEED24 if hash_.endswith("192") else support.SEED
        return ("keygen", "--params", params, "--hash", hash_, "--cache", cache, "--out", folder, "--kernel", kernel,
                "--threads", threads, "--insecure-seed", seed, "--insecure-identifier", support.IDENTIFIER, "-q")

    def essence(self, folder):
        """What must be the same: all but the random key id, the time and the checksums over them."""
        key, cache = (folder / "key.key").read_bytes(), (folder / "key.cache").read_bytes()
        for data in (key, cache):
            self.assertEqual(hashlib.sha256(data[:-32]).digest(), data[-32:])
        self.assertEqual(cache[32:48], key[32:48])
        self.assertNotEqual(key[168:192], bytes(24))
        return ((folder / "key.pub").read_bytes(), key[:24], key[48:200], cache[:32], cache[48:-32])

    def test_threads_and_kernels_in_one_process(self):
        for number, which in enumerate(SETS):
            wanted = None
            for kernel in reversed(self.kernels[which[1].split("-")[0]]):
                for threads in THREADS:
                    folder = self.dir / f"{number}.{kernel}.{threads}"
                    self.ok(*self.args(which, folder, kernel, threads))
                    got = self.essence(folder)
                    wanted = wanted or got
                    self.assertEqual(got, wanted, f"{which} {kernel}, {threads} threads")

    def test_ranks(self):
        """All ranks x threads, with kernels and sets turning so that each meets each number of ranks."""
        runs = [(ranks, threads, number) for number in range(len(SETS)) for i, ranks in enumerate(RANKS)
                for j, threads in enumerate(THREADS) if (i + j + number) % 3 == 0]
        met = set()
        wanted = {}
        for turn, (ranks, threads, number) in enumerate(runs):
            kernels = self.kernels[SETS[number][1].split("-")[0]]
            kernel = kernels[turn % len(kernels)]
            if number not in wanted:
                folder = self.dir / f"one.{number}"
                self.ok(*self.args(SETS[number], folder, kernels[-1], 1))
                wanted[number] = self.essence(folder)
            folder = self.dir / f"{turn}"
            self.mpi_ok(ranks, *self.args(SETS[number], folder, kernel, threads))
            self.assertEqual(self.essence(folder), wanted[number],
                             f"{SETS[number]} {kernel}, {ranks} ranks, {threads} threads")
            met.add((ranks, threads))
        self.assertEqual(met, {(r, t) for r in RANKS for t in THREADS})

    def test_ranks_of_different_kernels_and_threads(self):
        """Ranks that differ in COPPICE_THREADS still agree on one partition: rank 0 speaks for all."""
        folder = self.dir / "mixed"
        plain = self.dir / "plain"
        self.ok(*self.args(SETS[0], plain, "portable", 1))
        args = list(map(str, self.args(SETS[0], folder, "portable", 1)))
        args = args[:args.index("--threads")] + args[args.index("--threads") + 2:]
        world = ["env", "COPPICE_THREADS=1", support.PROGRAM, *args, ":", "-n", "2", "env", "COPPICE_THREADS=3",
                 support.PROGRAM, *args]
        self.mpi_ok(1, program=world)
        self.assertEqual(self.essence(folder), self.essence(plain))

    def test_the_key_of_many_ranks_signs(self):
        key = self.dir / "key"
        run = self.mpi_ok(3, "keygen", "--params", "10/8,5/8", "--out", key, "--format", "json")
        result = support.json.loads(run.stdout)
        self.assertEqual((result["ranks"], result["hosts"], len(result["layout"])), (3, 1, 3))
        self.assertEqual([r["rank"] for r in result["layout"]], [0, 1, 2])
        self.sign(key, "sig")
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig"), 0)
        # Under mpirun every process signs: each its own file, each with its own leaf.
        sign = " ".join(f"'{a}'" for a in (support.PROGRAM, *self.sign_args(key, self.dir / "rank")))
        self.mpi_ok(3, program=["sh", "-c", f'exec {sign}."$OMPI_COMM_WORLD_RANK"'])
        leaves = set()
        for rank in range(3):
            self.assertEqual(self.verify(key / "key.pub", self.dir / f"rank.{rank}"), 0)
            leaves.add(tuple(self.inspect(self.dir / f"rank.{rank}")["leaf_numbers"]))
        self.assertEqual(len(leaves), 3)
        self.assertEqual(self.inspect(key / "key.key")["next_index"], "4")
        # All into one file: one of them gets it, whole, and the others say that it is there.
        run = self.mpirun(2, *self.sign_args(key, self.dir / "one"))
        self.assertEqual(run.returncode, support.EXISTS, run.stderr)
        self.assertIn("already exists", run.stderr)
        self.assertEqual(self.verify(key / "key.pub", self.dir / "one"), 0)


if __name__ == "__main__":
    support.main()
