"""JSON output: parses, has schema_version, and its fields are exactly those of proto/*.proto."""
import os
import re
from pathlib import Path

import support
from support import FIXED

SOURCE = Path(os.environ.get("COPPICE_TEST_SOURCE", Path(__file__).resolve().parents[2]))


def messages():
    """Message name -> {field: is it repeated or a message of ours}, read from the .proto files."""
    found = {}
    for file in ("job.proto", "result.proto"):
        text = re.sub(r"//.*", "", (SOURCE / "proto" / file).read_text())
        for name, body in re.findall(r"message (\w+) \{(.*?)\n\}", text, re.S):
            found[name] = {field: (bool(repeated), type_) for repeated, type_, field in
                           re.findall(r"(repeated )?(\w+) (\w+) = \d+;", body)}
    return found


MESSAGES = messages()


class Json(support.ProgramTest):
    def conforms(self, value, message):
        """Every documented field is there, no other, of the right kind; `files` may be unset."""
        fields = MESSAGES[message]
        self.assertEqual(set(value) - set(fields), set(), message)
        for name, (repeated, type_) in fields.items():
            if name not in value:
                self.assertIn(type_, MESSAGES, f"{message}.{name} is missing")
                continue
            items = value[name] if repeated else [value[name]]
            self.assertIsInstance(items, list)
            for item in items:
                if type_ in MESSAGES:
                    self.conforms(item, type_)
                elif type_ == "uint64":
                    self.assertRegex(item, r"^\d+$", name)
                elif type_ == "bool":
                    self.assertIsInstance(item, bool, name)
                elif type_ in ("string", "bytes"):
                    self.assertIsInstance(item, str, name)
                else:
                    self.assertIsInstance(item, (int, float), name)

    def checked(self, message, *args):
        run = self.ok(*args, "--format", "json")
        self.assertEqual(run.stderr, "")
        value = support.json.loads(run.stdout)
        self.assertEqual(value["schema_version"], 1)
        self.conforms(value, message)
        return value

    def test_keygen(self):
        key = self.dir / "key"
        m = self.checked("KeygenResult", "keygen", "--params", "5/8,5/4", "--out", key, "--threads", "2",
                         "--independent-seeds", *FIXED)
        self.assertEqual(m["public_key"], (key / "key.pub").read_bytes().hex())
        self.assertEqual({k: Path(v) for k, v in m["files"].items()},
                         {k: key / f"key.{k}" for k in ("key", "pub", "cache", "state")})
        self.assertEqual((m["ranks"], m["threads_total"], m["hosts"]), (1, 2, 1))
        self.assertEqual((m["signatures"], m["leaves"]), ("1024", "32"))
        self.assertEqual((m["insecure_seed"], m["signature_checked"], m["child_seeds"]),
                         (True, True, "independent"))
        # One leaf of W8 is 34 chains of 256 calls, 18 blocks for the public key and one for the leaf.
        self.assertEqual(int(m["hash_calls"]), 32 * (34 * 256 + 18 + 1) + 31 * 2)
        self.assertEqual(len(m["layout"]), 1)
        self.assertGreater(int(m["layout"][0]["peak_memory_bytes"]), 1 << 20)
        sig = self.sign(key, "sig")
        self.assertEqual(int(m["signature_bytes"]), len(sig))
        self.assertEqual(int(m["public_key_bytes"]), 60)
        self.assertEqual((key / "key.cache").stat().st_size, 64 + int(m["cache_bytes"]) + 32)

    def test_slurm_job_is_recorded(self):
        m = support.json.loads(self.ok("keygen", "--params", "5/8", "--out", self.dir / "key", "--format", "json",
                                       env={"SLURM_JOB_ID": "4711"}).stdout)
        self.assertEqual(m["job"], "4711")

    def test_dry_run(self):
        m = self.checked("DryRunResult", "keygen", "--params", "20/8", "--dry-run")
        self.assertEqual((m["leaves"], m["signatures"]), (str(1 << 20), str(1 << 20)))
        self.assertGreater(m["estimated_seconds"], 0)
        self.assertEqual(m["cache_depth"], 12)
        m = self.checked("DryRunResult", "keygen", "--params", ",".join(["25/1"] * 8), "--dry-run")
        self.assertEqual(m["signatures"], str((1 << 64) - 1))

    def test_sign_verify_inspect(self):
        key = self.keygen()
        m = self.checked("SignResult", *self.sign_args(key, self.dir / "sig"))
        self.assertEqual((m["indices"], m["hss_keys_remaining"]), (["0"], "31"))
        self.assertEqual(m["files"], [str(self.dir / "sig")])
        m = self.checked("VerifyResult", "verify", "--pub", key / "key.pub", "--in", self.message, "--sig",
                         self.dir / "sig")
        self.assertTrue(m["valid"])
        for file in (key / "key.key", key / "key.pub", key / "key.cache", self.dir / "sig"):
            self.checked("InspectResult", "inspect", file)
        private, cache = (self.inspect(key / name) for name in ("key.key", "key.cache"))
        self.assertEqual(cache["kind"], "cache")
        for field in ("params", "identifier", "cache_depth"):
            self.assertEqual(cache[field], private[field])

    def test_tables(self):
        self.checked("ListParamsResult", "list-params")
        m = self.checked("SelftestResult", "selftest")
        self.assertEqual((m["passed"], m["failed"]), (len(m["cases"]), 0))

    def test_names_that_are_not_utf8(self):
        folder = os.fsencode(self.dir) + b"/k\xff\xfe"
        run = self.call("keygen", "--params", "5/8", "--out", os.fsdecode(folder), "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(support.json.loads(run.stdout)["schema_version"], 1)

    def test_errors_are_not_json(self):
        self.refused(2, "keygen", "--params", "5/9", "--out", self.dir / "k", "--format", "json")


if __name__ == "__main__":
    support.main()
