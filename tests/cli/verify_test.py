"""verify and inspect: the answer, its reason and its exit code; public keys in every form."""
import os
import subprocess
import unittest

import hss
import support
from support import BAD_DATA


class Verify(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.key = self.keygen()
        self.pub = self.key / "key.pub"
        self.sig = self.dir / "sig"
        self.signature = self.sign(self.key, "sig")

    def says_no(self, signature, reason, pub=None, message=None):
        sig = self.dir / "bad"
        sig.write_bytes(signature)
        args = ("verify", "--pub", pub or self.pub, "--in", message or self.message, "--sig", sig)
        run = self.call(*args)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertTrue(run.stdout.startswith("INVALID: "), run.stdout)
        self.assertEqual(run.stderr, "")
        answer = support.json.loads(self.call(*args, "--format", "json").stdout)
        self.assertFalse(answer["valid"])
        self.assertEqual(answer["reason"], reason)
        self.assertIn(answer["detail"], run.stdout)

    def test_valid(self):
        run = self.ok("verify", "--pub", self.pub, "--in", self.message, "--sig", self.sig)
        self.assertEqual((run.stdout, run.stderr), ("valid\n", ""))
        self.assertTrue(self.json("verify", "--pub", self.pub, "--in", self.message, "--sig", self.sig)["valid"])
        self.assertTrue(hss.verify(self.pub.read_bytes(), self.signature, self.message.read_bytes()))

    def test_wrong_message_and_key(self):
        other = self.dir / "other"
        other.write_bytes(b"another message\n")
        self.says_no(self.signature, "root mismatch", message=other)
        empty = self.dir / "empty"
        empty.write_bytes(b"")
        self.says_no(self.signature, "root mismatch", message=empty)
        self.says_no(self.signature, "root mismatch", pub=self.keygen(out="two") / "key.pub")

    def test_malformed_signatures(self):
        s = self.signature
        self.says_no(b"", "too short")
        self.says_no(s[:-1], "too short")
        self.says_no(s + b"\0", "trailing bytes")
        self.says_no(b"\0\0\0\1" + s[4:], "levels")
        self.says_no(b"\xff" * 4 + s[4:], "levels")
        self.says_no(s[:8] + b"\0\0\0\3" + s[12:], "ots type mismatch")
        self.says_no(s[:4] + b"\0\0\0\x20" + s[8:], "leaf number out of range")
        for at in range(12, len(s), 97):
            run = self.dir / "bad"
            run.write_bytes(s[:at] + bytes([s[at] ^ 0x10]) + s[at + 1:])
            self.assertEqual(self.verify(self.pub, run), 1, at)

    def test_bad_public_keys(self):
        raw = self.pub.read_bytes()
        pem = self.keygen("--outform", "pem", out="pem").joinpath("key.pub").read_bytes()
        bad = self.dir / "bad.pub"
        for data in (b"", b"\0", raw[:-1], raw + b"\0", raw[4:], os.urandom(60), b"garbage\n", bytes(60),
                     b"\0\0\0\0" + raw[4:], b"\0\0\0\x09" + raw[4:], raw[:4] + b"\0\0\0\x63" + raw[8:],
                     raw[:8] + b"\0\0\0\x08" + raw[12:], pem[:-20], pem + pem, pem[:60] + b"!" + pem[61:],
                     self.signature, (self.key / "key.key").read_bytes(), b"\xff" * 70000):
            bad.write_bytes(data)
            self.refused(BAD_DATA, "verify", "--pub", bad, "--in", self.message, "--sig", self.sig,
                         says="bad.pub")

    def test_large_and_empty_messages(self):
        for size in (0, 1, 63, 64, 3_000_001):
            message = self.dir / "sized"
            message.write_bytes(os.urandom(size))
            signature = self.sign(self.key, f"sig{size}", message=message)
            self.assertEqual(self.verify(self.pub, self.dir / f"sig{size}", message), 0)
            self.assertTrue(hss.verify(self.pub.read_bytes(), signature, message.read_bytes()))

    def test_a_pipe_is_no_message(self):
        os.mkfifo(self.dir / "pipe")
        self.refused(74, "verify", "--pub", self.pub, "--in", self.dir / "pipe", "--sig", self.sig)


class Forms(support.ProgramTest):
    def test_public_key_forms(self):
        pubs = {}
        for form in ("raw", "pem", "der"):
            key = self.keygen("--outform", form, *support.FIXED, out=form)
            pubs[form] = (key / "key.pub").read_bytes()
            self.sign(key, form + ".sig")
            self.assertEqual(self.verify(key / "key.pub", self.dir / f"{form}.sig"), 0)
        self.assertEqual(len(pubs["raw"]), 60)  # HSS with one level, RFC 9708: never the bare 56 bytes
        self.assertTrue(pubs["der"].endswith(pubs["raw"]))
        self.assertTrue(pubs["pem"].startswith(b"-----BEGIN PUBLIC KEY-----\n"))
        for form in pubs:  # any signature under any form of the same key
            for other in pubs:
                self.assertEqual(self.verify(self.dir / form / "key.pub", self.dir / f"{other}.sig"), 0)
        crlf = self.dir / "crlf.pub"
        crlf.write_bytes(pubs["pem"].replace(b"\n", b"\r\n"))
        self.assertEqual(self.verify(crlf, self.dir / "raw.sig"), 0)

    @unittest.skipUnless(support.shutil.which("openssl"), "openssl is not here")
    def test_openssl_reads_the_encodings(self):
        for form in ("pem", "der"):
            key = self.keygen("--outform", form, *support.FIXED, out=form)
            run = subprocess.run(["openssl", "asn1parse", "-inform", form, "-in", key / "key.pub"],
                                 capture_output=True, text=True, check=True, timeout=support.GUARD)
            self.assertRegex(run.stdout, r"id-alg-hss-lms-hashsig|1\.2\.840\.113549\.1\.9\.16\.3\.17")
            self.assertRegex(run.stdout, r"l= +61 prim: BIT STRING")  # 60 bytes, no OCTET STRING inside
            self.assertNotIn("NULL", run.stdout)


class Inspect(support.ProgramTest):
    def test_every_kind(self):
        key = self.keygen("--cache", "2", "--name", "k", params="5/8,5/4")
        self.ok("sign", "--key", key / "k.key", "--in", self.message, "--sig", self.dir / "sig")
        private = self.inspect(key / "k.key")
        self.assertEqual(private["kind"], "private-key")
        self.assertEqual(private["status"], "complete")
        self.assertEqual((private["next_index"], private["hss_keys_remaining"]), ("1", "1023"))
        self.assertEqual([level["lmots_type"] for level in private["levels"]],
                         ["LMOTS_SHA256_N32_W8", "LMOTS_SHA256_N32_W4"])
        public = self.inspect(key / "k.pub")
        self.assertEqual((public["kind"], public["hss_levels"]), ("public-key", 2))
        self.assertEqual(public["public_key"], (key / "k.pub").read_bytes().hex())
        self.assertEqual(private["public_key"], public["public_key"])
        self.assertEqual(self.inspect(key / "k.cache")["kind"], "cache")
        signature = self.inspect(self.dir / "sig")
        self.assertEqual((signature["kind"], signature["leaf_numbers"]), ("signature", ["0", "0"]))
        self.refused(2, "inspect", key / "k.state", says="ledger")
        for file in (key / "k.key", key / "k.pub", key / "k.cache", self.dir / "sig"):
            self.assertIn(str(file), self.ok("inspect", file).stdout)

    def test_garbage(self):
        file = self.dir / "file"
        for data in (b"", b"\0", b"\0" * 4, b"\0" * 100_000, os.urandom(64), b"text\n", b"COPPICEK",
                     b"COPPICEK" + bytes(224), b"0" * 9, b"-----BEGIN PUBLIC KEY-----\n",
                     b"\0\0\0\7" + os.urandom(5000)):
            file.write_bytes(data)
            self.refused(BAD_DATA, "inspect", file, says="file")


if __name__ == "__main__":
    support.main()
