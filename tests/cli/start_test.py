"""Start-up: help, version and the verbs of one process work where MPI cannot even start."""
import support

VERBS = ["keygen", "sign", "verify", "inspect", "list-params", "selftest", "bench"]
# As under mpirun, with a point-to-point layer that does not exist: MPI_Init fails.
NO_MPI = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "OMPI_MCA_pml": "nonexistent",
          "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Start(support.ProgramTest):
    def test_control_keygen_starts_mpi(self):
        if "Open MPI" not in self.ok("--version").stdout:
            self.skipTest("built without Open MPI")
        run = self.call("keygen", "--params", "5/8", "--out", self.dir / "key", env=NO_MPI)
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse((self.dir / "key").exists())

    def test_help_needs_no_mpi(self):
        for verb in VERBS:
            run = self.ok(verb, "--help", env=NO_MPI)
            self.assertIn("Usage: coppice " + verb, run.stdout)
            self.assertEqual(run.stderr, "")
        run = self.ok("--help", env=NO_MPI)
        for verb in VERBS:
            self.assertIn(verb, run.stdout)

    def test_version_needs_no_mpi(self):
        run = self.ok("--version", env=NO_MPI)
        self.assertRegex(run.stdout, r"^coppice \d+\.\d+\.\d+\nMPI ")
        self.assertRegex(run.stdout, r"\nsha256 +.*portable x\d")
        self.assertRegex(run.stdout, r"\nshake256 +.*portable x\d")
        self.assertEqual(self.ok("-V").stdout, run.stdout)

    def test_signer_needs_no_mpi(self):
        key = self.keygen()
        self.sign(key, "sig", env=NO_MPI)
        self.assertEqual(self.verify(key / "key.pub", self.dir / "sig", env=NO_MPI), 0)
        for args in (("inspect", key / "key.key"), ("list-params",), ("selftest",)):
            self.ok(*args, env=NO_MPI)

    def test_plain_start_needs_no_mpi(self):
        self.keygen(env={"OMPI_MCA_pml": "nonexistent"})

    def test_slurm_tasks_without_connection(self):
        for tasks in ({"SLURM_NTASKS": "4"}, {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"},
                      {"SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "2", "SLURM_PROCID": "0"}):
            self.refused(2, "keygen", "--params", "5/8", "--out", self.dir / "key", env=tasks,
                         says=("Slurm", "--mpi=pmix", "mpirun"))
        # The other tasks leave in silence: one message, not four.
        run = self.call("keygen", "--params", "5/8", "--out", self.dir / "key",
                        env={"SLURM_NTASKS": "4", "SLURM_PROCID": "3"})
        self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", ""))
        self.assertFalse((self.dir / "key").exists())

    def test_one_slurm_task_is_a_plain_start(self):
        self.keygen(env={"SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_JOB_ID": "17"})

    def test_one_help_of_many_ranks(self):
        for rank in range(3):
            env = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "3"}
            run = self.ok("keygen", "--help", env=env)
            self.assertEqual("Usage" in run.stdout, rank == 0)

    def test_list_params(self):
        text = self.ok("list-params").stdout
        for name in ("LMS_SHA256_M32_H25", "LMS_SHAKE_M24_H5", "LMOTS_SHA256_N24_W1",
                     "LMOTS_SHAKE_N32_W8"):
            self.assertIn(name, text)
        listed = self.json("list-params")
        self.assertEqual((len(listed["lms"]), len(listed["lmots"])), (20, 16))

    def test_selftest(self):
        run = self.ok("selftest")
        self.assertRegex(run.stdout, r"\n[1-9]\d* passed, 0 failed\n$")
        self.refused(2, "selftest", "--kernel", "abacus", says="abacus")


if __name__ == "__main__":
    support.main()
