"""Wrong command lines: one line that names the mistake, code 2, and nothing left behind."""
import support
from support import FIXED, IDENTIFIER, SEED, SEED24

PAIR = "LMS_SHA256_M32_H5/LMOTS_SHA256_N32_W8"


class Usage(support.ProgramTest):
    def wrong(self, *args, says=(), **options):
        before = support.snapshot(self.dir)
        self.refused(2, *args, says=says, cwd=self.dir, **options)
        self.assertEqual(support.snapshot(self.dir), before)

    def wrong_keygen(self, *args, says=()):
        self.wrong("keygen", "--out", self.dir / "key", *args, says=says)

    def test_verbs_and_flags(self):
        self.wrong(says="subcommand")
        self.wrong("keygeb")
        self.wrong("--no-such-flag")
        self.wrong("keygen", says=("--params", "coppice keygen --help"))
        self.wrong("keygen", "--params", "5/8", says="--out")
        self.wrong_keygen("--params", says="--params")
        self.wrong_keygen("--params", "5/8", "--no-such-flag", says="--no-such-flag")
        self.wrong_keygen("--params", "5/8", "stray", says="stray")
        self.wrong("sign", "--in", self.message, "--sig", "s", says="--key")
        self.wrong("sign", "--key", "k.key", "--sig", "s", says="--in")
        self.wrong("sign", "--key", "k.key", "--in", self.message, says="--sig")
        self.wrong("verify", "--pub", "p", "--in", self.message, says="--sig")
        self.wrong("inspect", says="FILE")
        self.wrong("sign", "verify", says="")
        self.wrong("bench", says="")

    def test_values_of_flags(self):
        p = ("--params", "5/8")
        for flag in ("--format", "--outform", "--progress"):
            self.wrong_keygen(*p, flag, "xyz", says=(flag, "xyz"))
        for threads in ("0", "-1", "4097", "two", "99999999999999999999", "1.5"):
            self.wrong_keygen(*p, "--threads", threads, says="--threads")
        self.wrong_keygen(*p, "--kernel", "abacus", says=("abacus", "portable"))
        self.wrong_keygen(*p, "--resume", "--force", says=("--resume", "--force"))
        for name in ("", ".", "..", "a/b", "/etc/x"):
            self.wrong_keygen(*p, "--name", name)
        for cache in ("6", "31", "-1", "x", "4T", "4MM", "1e3", "99999999999999999999"):
            self.wrong_keygen(*p, "--cache=" + cache, says="--cache")

    def test_parameter_names(self):
        for params in ("", "/", "5", "5/", "/8", "7/8", "5/3", "30/8", "5/8,", ",5/8", "5/8,,5/8",
                       "-5/8", "5/8/1", " 5/8", "0x5/8", "5/8 5/8", "RSA", "lms_sha256_m32_h5/x",
                       "LMS_SHA256_M32_H5", PAIR + "x", "99999999999999999999/8"):
            self.wrong_keygen("--params=" + params)
        for hash_ in ("", "md5", "sha512", "SHA-256", "sha256-128"):
            self.wrong_keygen("--params", "5/8", "--hash=" + hash_)

    def test_pairs(self):
        self.wrong_keygen("--params", "LMS_SHA256_M32_H5/LMOTS_SHA256_N24_W8")
        self.wrong_keygen("--params", "LMS_SHA256_M32_H5/LMOTS_SHAKE_N32_W8")
        self.wrong_keygen("--params", PAIR + ",LMS_SHAKE_M32_H5/LMOTS_SHAKE_N32_W8")
        self.wrong_keygen("--params", PAIR + ",LMS_SHA256_M24_H5/LMOTS_SHA256_N24_W8")
        self.wrong_keygen("--params", ",".join(["5/8"] * 9), says="8")

    def test_seeds(self):
        p = ("--params", "5/8")
        self.wrong_keygen(*p, "--insecure-seed", SEED, says="--insecure-identifier")
        self.wrong_keygen(*p, "--insecure-identifier", IDENTIFIER, says="--insecure-seed")
        for seed in (SEED24, SEED[:-2], SEED + "00", SEED[:-1], SEED[:-1] + "g", "0x" + SEED, "zz"):
            self.wrong_keygen(*p, "--insecure-seed", seed, "--insecure-identifier", IDENTIFIER,
                              says="--insecure-seed")
        for identifier in (IDENTIFIER[:-2], IDENTIFIER + "00", IDENTIFIER[:-1], "xyz"):
            self.wrong_keygen(*p, "--insecure-seed", SEED, "--insecure-identifier", identifier,
                              says="--insecure-identifier")
        self.wrong_keygen(*p, "--hash", "sha256-192", "--insecure-seed", SEED24[:-2],
                          "--insecure-identifier", IDENTIFIER, says="24")

    def test_files_of_the_wrong_kind(self):
        key = self.keygen()
        before = support.snapshot(key)
        self.wrong(*self.sign_args(key, self.dir), says="folder")
        self.wrong("sign", "--key", key / "key.pub", "--in", self.message, "--sig", "s")
        self.assertEqual(support.snapshot(key), before)

    def test_missing_input_files(self):
        key = self.keygen()
        before = support.snapshot(key)
        gone = self.dir / "gone"
        self.refused(74, "sign", "--key", key / "key.key", "--in", gone, "--sig", self.dir / "s",
                     says=str(gone))
        self.refused(74, "sign", "--key", self.dir / "no.key", "--in", self.message, "--sig",
                     self.dir / "s", says="no.key")
        self.refused(74, *self.sign_args(key, self.dir / "no/such/s"), says="no/such")
        self.sign(key, "sig")
        for args in ((gone, self.message, self.dir / "sig"), (key / "key.pub", gone, self.dir / "sig"),
                     (key / "key.pub", self.message, gone)):
            self.refused(74, "verify", "--pub", args[0], "--in", args[1], "--sig", args[2],
                         says=str(gone))
        self.refused(74, "inspect", gone, says=str(gone))
        self.refused(74, "inspect", self.dir, says=str(self.dir))
        after = support.snapshot(key)
        for name in ("key.key", "key.pub", "key.cache"):
            self.assertEqual(after[name], before[name])

    def test_dry_run_writes_nothing(self):
        run = self.ok("keygen", "--params", "20/8", "--out", self.dir / "key", "--dry-run", cwd=self.dir)
        self.assertIn("nothing was written", run.stdout)
        self.ok("keygen", "--params", "25/8,25/8,25/8", "--dry-run", cwd=self.dir)
        self.assertEqual(sorted(support.snapshot(self.dir)), ["message"])

    def test_short_and_long_names_are_the_same_key(self):
        a = self.keygen(*FIXED, params="5/8", out="a")
        b = self.keygen(*FIXED, params=PAIR, out="b")
        self.assertEqual((a / "key.pub").read_bytes(), (b / "key.pub").read_bytes())


if __name__ == "__main__":
    support.main()
