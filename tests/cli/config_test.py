"""Flags from the environment and from a TOML file; flags given by hand win."""
import support


class Config(support.ProgramTest):
    def toml(self, text, name="coppice.toml"):
        file = self.dir / name
        file.write_text(text)
        return file

    def params_of(self, folder):
        return self.inspect(folder / "key.key")["params"]

    def test_environment(self):
        key = self.dir / "key"
        self.ok("keygen", env={"COPPICE_PARAMS": "5/4", "COPPICE_HASH": "shake256", "COPPICE_OUT": str(key),
                               "COPPICE_OUTFORM": "pem", "COPPICE_CACHE": "3", "COPPICE_THREADS": "1",
                               "COPPICE_INDEPENDENT_SEEDS": "1"})
        self.assertEqual(self.params_of(key), "LMS_SHAKE_M32_H5/LMOTS_SHAKE_N32_W4")
        self.assertTrue((key / "key.pub").read_bytes().startswith(b"-----BEGIN"))
        self.assertEqual(self.inspect(key / "key.key")["cache_depth"], 3)
        self.assertEqual(self.inspect(key / "key.key")["child_seeds"], "independent")
        run = self.ok("sign", env={"COPPICE_KEY": str(key / "key.key"), "COPPICE_IN": str(self.message),
                                   "COPPICE_SIG": str(self.dir / "sig"), "COPPICE_FORMAT": "json"})
        self.assertEqual(support.json.loads(run.stdout)["indices"], ["0"])
        self.ok("verify", env={"COPPICE_PUB": str(key / "key.pub"), "COPPICE_IN": str(self.message),
                               "COPPICE_SIG": str(self.dir / "sig")})

    def test_flags_win_over_the_environment(self):
        key = self.dir / "key"
        self.ok("keygen", "--params", "5/8", "--out", key, env={"COPPICE_PARAMS": "25/1", "COPPICE_OUT": "/nowhere"})
        self.assertEqual(self.params_of(key), "LMS_SHA256_M32_H5/LMOTS_SHA256_N32_W8")

    def test_wrong_values_in_the_environment(self):
        for name, value in (("COPPICE_THREADS", "many"), ("COPPICE_OUTFORM", "xml"), ("COPPICE_KERNEL", "abacus"),
                            ("COPPICE_PARAMS", "5/9"), ("COPPICE_FORMAT", "yaml"), ("COPPICE_CACHE", "-1"),
                            ("COPPICE_RESUME", "maybe")):
            env = {"COPPICE_PARAMS": "5/8", "COPPICE_OUT": str(self.dir / "key"), name: value}
            self.refused(2, "keygen", env=env, says=value)
        self.assertEqual(sorted(support.snapshot(self.dir)), ["message"])

    def test_toml(self):
        key = self.dir / "key"
        file = self.toml(f'# a comment\n[keygen]\nparams = "5/4"\nhash = "sha256-192"\nout = "{key}"\n'
                         'cache = "2"\nthreads = 1\nindependent-seeds = true\n')
        self.ok("--config", file, "keygen")
        self.assertEqual(self.params_of(key), "LMS_SHA256_M24_H5/LMOTS_SHA256_N24_W4")
        self.assertEqual(self.inspect(key / "key.key")["child_seeds"], "independent")
        self.ok("keygen", "--name", "other", env={"COPPICE_CONFIG": str(file)})
        self.ok("--config", file, "keygen", "--params", "5/8", "--name", "third")
        self.assertEqual(self.inspect(key / "third.key")["params"], "LMS_SHA256_M24_H5/LMOTS_SHA256_N24_W8")

    def test_one_file_for_several_verbs(self):
        key = self.keygen()
        file = self.toml(f'[keygen]\nparams = "20/8"\n[sign]\nkey = "{key}/key.key"\nin = "{self.message}"\n'
                         f'[verify]\npub = "{key}/key.pub"\nin = "{self.message}"\n')
        self.ok("--config", file, "sign", "--sig", self.dir / "sig")
        self.ok("--config", file, "verify", "--sig", self.dir / "sig")

    def test_wrong_files(self):
        tail = ("keygen", "--params", "5/8", "--out", self.dir / "key")
        self.refused(2, "--config", self.dir / "none.toml", *tail, says="none.toml")
        self.refused(2, *tail, env={"COPPICE_CONFIG": str(self.dir / "none.toml")}, says="none.toml")
        self.assertIn("Usage", self.ok("--help", env={"COPPICE_CONFIG": "none.toml"}).stdout)
        for text in ('[keygen]\nthraeds = 1\n', '[keygen]\nthreads = "x"\n', "[keygne]\nthreads = 1\n",
                     'threads = 1\n'):
            self.refused(2, "--config", self.toml(text), *tail)
        self.assertFalse((self.dir / "key").exists())

    def test_quiet_and_verbose(self):
        run = self.ok("keygen", "--params", "10/8", "--out", self.dir / "q", "-q", "--progress", "always")
        self.assertEqual(run.stderr, "")
        run = self.ok("keygen", "--params", "15/8", "--out", self.dir / "p", "--progress", "always")
        self.assertNotRegex(run.stderr, "[\r\x1b]")  # no terminal: plain lines
        self.assertRegex(run.stderr, "keygen LMS_SHA256_M32_H15.*\n$")
        run = self.ok("keygen", "--params", "10/8", "--out", self.dir / "n", "--progress", "never")
        self.assertEqual(run.stderr, "")


class Unreadable(support.ProgramTest):
    def refused_config(self, file, says):
        for args in (("--config", file, "list-params"), (f"--config={file}", "list-params")):
            self.refused(78, *args, says=says)
        self.refused(78, "list-params", says=says, env={"COPPICE_CONFIG": str(file)})

    def test_hash_sign_within_quotes(self):
        """It would be taken for a comment: the rest of a file name would be cut off in silence."""
        file = self.dir / "c.toml"
        file.write_text('# fine "#"\n[keygen] # fine\nout="a b # c"\n')
        self.refused_config(file, says=("c.toml", "line 3"))

    def test_no_file_without_end(self):
        support.os.mkfifo(self.dir / "fifo")
        self.refused_config(self.dir / "fifo", says="fifo")
        self.refused_config("/dev/zero", says="/dev/zero")


if __name__ == "__main__":
    support.main()
