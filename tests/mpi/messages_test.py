"""What many ranks print: one message and not one per rank, the right code, and hints about unused cores."""
import os
import subprocess

from launch import BASE, MPIRUN, MpiTest  # first: it makes support known
import support
from support import EXISTS, snapshot

WIDE = len(os.sched_getaffinity(0)) >= 2


class Messages(MpiTest):
    def refused_once(self, code, ranks, *args, **options):
        run = self.mpirun(ranks, *args, **options)
        shown = f"{args}\n{run.stdout}\n{run.stderr}"
        self.assertEqual(run.returncode, code, shown)
        self.assertEqual(len(self.ours(run.stderr)), 1, shown)
        self.assertEqual(self.ours(run.stdout), [], shown)
        return self.ours(run.stderr)[0]

    def test_help_once(self):
        run = self.mpi_ok(4, "keygen", "--help")
        self.assertEqual(run.stdout.count("Usage: coppice keygen"), 1)
        run = self.mpi_ok(4, "--version")
        self.assertEqual(run.stdout.count("OpenSSL"), 1)

    def test_usage_errors_once(self):
        key = self.dir / "key"
        for args in (("keygen", "--no-such-flag"), ("keygen", "--params", "5/9", "--out", key),
                     ("keygen", "--params", "5/8", "--out", key, "--kernel", "abacus"),
                     ("keygen", "--params", "5/8"), ("nonsense",)):
            self.refused_once(2, 4, *args)
        self.assertFalse(key.exists())

    def test_existing_output_once(self):
        key = self.keygen()
        before = snapshot(key)
        said = self.refused_once(EXISTS, 3, "keygen", "--params", "5/8", "--out", key)
        self.assertIn(str(key), said)
        self.assertEqual(snapshot(key), before)

    def test_finished_key_is_left_alone(self):
        key = self.keygen()
        before = snapshot(key)
        run = self.mpi_ok(3, "keygen", "--params", "5/8", "--out", key, "--resume")
        self.assertEqual(run.stdout.count("complete already"), 1)
        self.assertEqual(snapshot(key), before)

    def test_dry_run(self):
        run = self.mpi_ok(3, "keygen", "--params", "20/8", "--dry-run", "--format", "json", "--threads", "2")
        result = support.json.loads(run.stdout)
        self.assertEqual((result["ranks"], result["threads_total"]), (3, 6))

    def test_single_process_verbs_once(self):
        run = self.mpi_ok(3, "list-params")
        self.assertEqual(run.stdout.count("LMS_SHA256_M32_H25"), 1)

    def test_every_process_verifies_what_it_was_given(self):
        """No exit code 0 from a rank that looked at nothing."""
        key = self.keygen()
        self.sign(key, "sig")
        other = self.dir / "other"
        other.write_text("another message")
        args = ("verify", "--pub", key / "key.pub", "--sig", self.dir / "sig", "--in")
        for rank in ("0", "1"):
            env = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "2"}
            self.assertEqual(self.call(*args, self.message, env=env).returncode, 0)
            self.assertEqual(self.call(*args, other, env=env).returncode, 1)
            run = self.call(*args, self.dir / "none", env=env)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (support.IO, 1))

    def test_rank_zero_decides_about_a_dry_run(self):
        for first, second in (("1", "0"), ("0", "1")):
            key = self.dir / f"key{first}"
            args = [str(a) for a in ("keygen", "--params", "5/8", "--out", key)]
            world = ["env", f"COPPICE_DRY_RUN={first}", support.PROGRAM, *args, ":", "-n", "1", "env",
                     f"COPPICE_DRY_RUN={second}", support.PROGRAM, *args]
            self.mpi_ok(1, program=world)
            self.assertEqual((key / "key.key").exists(), first == "0")

    def test_slurm_allocation_around_mpirun(self):
        """mpirun -n 2 in a job of 4 tasks: mpirun counts."""
        key = self.dir / "key"
        run = self.mpi_ok(2, "keygen", "--params", "5/8", "--out", key, "--format", "json",
                          env={"SLURM_PROCID": "0"}, options=("-x", "SLURM_NTASKS=4"))
        self.assertEqual(support.json.loads(run.stdout)["ranks"], 2)

    def test_loop_over_lines(self):
        """mpirun does not eat the lines of a `while read` loop when stdin is /dev/null."""
        lines = self.dir / "lines"
        lines.write_text("one\ntwo\nthree\n")
        script = ('while read -r name; do "$@" --name "$name" </dev/null >/dev/null || exit; echo "$name"; '
                  f'done <{lines}')
        command = ["bash", "-c", script, "bash", MPIRUN, *BASE, "-n", "2",
                   *self.command("keygen", "--params", "5/8", "--out", self.dir / "key")]
        run = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=support.GUARD,
                             stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(run.stdout.split(), ["one", "two", "three"], run.stderr)
        self.assertEqual(len(list((self.dir / "key").glob("*.state"))), 3)


@support.unittest.skipUnless(WIDE, "this machine gives us one core: nothing stays idle")
class Placement(MpiTest):
    def hints(self, ranks, *options):
        """Lines that name the remedy, and the size of the teams."""
        args = ("keygen", "--params", "5/8", "--out", self.dir / "-".join((str(ranks), *options)), "--format", "json")
        run = self.mpi_ok(ranks, *args, options=options)
        teams = [rank["threads"] for rank in support.json.loads(run.stdout)["layout"]]
        return [line for line in self.ours(run.stderr) if "mpirun" in line], teams

    def test_one_rank_bound_to_one_core(self):
        hints, teams = self.hints(1)
        if teams != [1]:
            self.skipTest("this mpirun does not bind a single rank to one core")
        self.assertEqual(len(hints), 1, hints)
        self.assertIn("--map-by slot:PE=", hints[0])

    def test_one_rank_with_more_cores(self):
        self.assertEqual(self.hints(1, "--bind-to", "none"), ([], [len(os.sched_getaffinity(0))]))
        if os.cpu_count() == 2:
            self.assertEqual(self.hints(1, "--map-by", "slot:PE=2"), ([], [2]))

    def test_a_rank_per_core(self):
        hints, teams = self.hints(os.cpu_count())
        self.assertEqual((hints, teams), ([], [1] * os.cpu_count()))


if __name__ == "__main__":
    support.main()
