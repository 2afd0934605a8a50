"""Key generation that is stopped or killed: --resume gives a working key, the same one for the same seed."""
import random
import signal
import stat
import time

import hss
import support
from support import FIXED, INTERRUPTED, snapshot

random.seed(20)
PARAMS = "15/4"  # long enough to be hit in its middle
SMALL = "10/8"


class Resume(support.ProgramTest):
    def resume(self, *args, params=PARAMS, out="key"):
        return self.ok("keygen", "--params", params, "--out", self.dir / out, "--resume", *args)

    def check_key(self, folder):
        """Four files, private ones private, and a signature that an independent reader accepts."""
        names = sorted(p.name for p in folder.iterdir() if not p.name.startswith(".coppice-"))
        self.assertEqual(names, ["key.cache", "key.key", "key.pub", "key.state"])
        for file in folder.iterdir():
            if file.name != "key.pub":
                self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o077, 0, file)
        sig = folder.parent / (folder.name + ".sig")
        signature = self.sign(folder, sig.name)
        self.assertEqual(hss.index(signature), 0)
        self.assertTrue(hss.verify((folder / "key.pub").read_bytes(), signature, self.message.read_bytes()))
        self.assertEqual(self.verify(folder / "key.pub", sig), 0)

    def start_and_wait(self, *args, params=PARAMS, out="key"):
        """A run that has written its unfinished key."""
        process = self.start("keygen", "--params", params, "--out", self.dir / out, *args)
        end = time.monotonic() + support.GUARD
        while not (self.dir / out / "key.key").exists() and process.poll() is None:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)
        return process

    def wait_for(self, condition, process):
        end = time.monotonic() + support.GUARD
        while not condition():
            self.assertIsNone(process.poll(), "it ended too early")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_nothing_there(self):
        self.resume(params="5/8")
        self.check_key(self.dir / "key")

    def test_finished_key_is_left_alone(self):
        key = self.keygen()
        self.sign(key, "sig")
        before = snapshot(key)
        run = self.resume(params="5/8")
        self.assertIn("complete already", run.stdout)
        self.assertTrue(self.json("keygen", "--params", "5/8", "--out", key, "--resume")["already_complete"])
        self.assertEqual(snapshot(key), before)

    def test_finished_key_without_companions(self):
        key = self.keygen()
        pub = (key / "key.pub").read_bytes()
        (key / "key.pub").unlink()
        self.resume(params="5/8")
        self.assertEqual((key / "key.pub").read_bytes(), pub)
        (key / "key.state").unlink()
        self.refused(support.BAD_DATA, "keygen", "--params", "5/8", "--out", key, "--resume",
                     says=("key.state", "retire"))

    def test_unfinished_key(self):
        process = self.start_and_wait()
        process.kill()
        process.wait()
        key = self.dir / "key"
        self.assertEqual(self.inspect(key / "key.key")["status"], "generating")
        before = snapshot(key)
        self.refused(support.EXISTS, "keygen", "--params", PARAMS, "--out", key, says="--resume")
        self.refused(support.BAD_DATA, *self.sign_args(key, self.dir / "sig"), says="--resume")
        self.assertEqual(snapshot(key), before)
        self.resume()
        self.check_key(key)

    def test_other_parameters(self):
        process = self.start_and_wait(*FIXED)
        process.kill()
        process.wait()
        key = self.dir / "key"
        before = snapshot(key)
        other_seed = ("--insecure-seed", "11" * 32, "--insecure-identifier", support.IDENTIFIER)
        for args in (("15/8",), ("15/4,5/8",), ("15/4", "--hash", "shake256"), ("15/4", "--cache", "3"),
                     ("15/4", "--independent-seeds"), ("15/4", *other_seed)):
            self.refused(2, "keygen", "--params", *args, "--out", key, "--resume", says="key.key")
        self.assertEqual(snapshot(key), before)
        self.resume(*FIXED)
        fresh = self.keygen(*FIXED, params=PARAMS, out="fresh")
        self.assertEqual((key / "key.pub").read_bytes(), (fresh / "key.pub").read_bytes())

    def test_damaged_unfinished_key(self):
        process = self.start_and_wait()
        process.kill()
        process.wait()
        file = self.dir / "key" / "key.key"
        data = bytearray(file.read_bytes())
        data[140] ^= 1  # in the seed: another key would come out
        file.write_bytes(bytes(data))
        self.refused(support.BAD_DATA, "keygen", "--params", PARAMS, "--out", self.dir / "key", "--resume",
                     says="key.key")

    def test_signals(self):
        wanted = (self.keygen(*FIXED, params=PARAMS, out="whole") / "key.pub").read_bytes()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            out = f"stopped{number}"
            # A fixed number of threads on a kernel without vectors: time enough for the signal.
            process = self.start_and_wait(*FIXED, "--threads", "1", "--kernel", "portable", out=out)
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=support.GUARD)
            self.assertEqual((process.returncode, stdout), (INTERRUPTED, ""), stderr)
            self.assertEqual(stderr.count("\n"), 1, stderr)
            self.assertIn("--resume", stderr)
            self.resume(out=out)
            self.assertEqual((self.dir / out / "key.pub").read_bytes(), wanted)
            self.check_key(self.dir / out)

    def test_goes_on_where_it_stopped(self):
        whole = (self.keygen(*FIXED, params=PARAMS, out="whole") / "key.pub").read_bytes()
        key = self.dir / "key"
        args = ("keygen", "--params", PARAMS, "--out", key, *FIXED, "--format", "json")
        process = self.start(*args, "--threads", "1", "--kernel", "portable")
        progress = key / "key.progress"
        # Whole records on disk: the first synchronisation comes after two seconds.
        self.wait_for(lambda: progress.exists() and progress.stat().st_size > 200, process)
        process.kill()
        process.communicate()
        self.assertEqual(progress.stat().st_mode & 0o777, 0o600)
        result = self.json(*args[:-2], "--resume")
        self.assertGreater(int(result["units_resumed"]), 0)
        self.assertGreater(int(result["units"]), 0)
        self.assertEqual(int(result["units"]) + int(result["units_resumed"]), 1 << (15 - result["unit_height"]))
        self.assertEqual((key / "key.pub").read_bytes(), whole)
        self.assertFalse(progress.exists())
        self.check_key(key)

    def test_one_run_at_a_time(self):
        process = self.start_and_wait("--threads", "1", "--kernel", "portable")
        self.wait_for((self.dir / "key" / "key.progress").exists, process)
        self.refused(support.UNAVAILABLE, "keygen", "--params", PARAMS, "--out", self.dir / "key", "--resume",
                     says=("key.progress", "another run"))
        process.kill()
        process.communicate()
        self.resume()

    def test_progress_of_another_key(self):
        for out in ("one", "two"):
            process = self.start_and_wait("--threads", "1", "--kernel", "portable", out=out)
            progress = self.dir / out / "key.progress"
            self.wait_for(lambda file=progress: file.exists() and file.stat().st_size >= 96, process)  # its head
            process.kill()
            process.communicate()
        support.shutil.copy(self.dir / "one/key.progress", self.dir / "two/key.progress")
        self.refused(support.BAD_DATA, "keygen", "--params", PARAMS, "--out", self.dir / "two", "--resume",
                     says=("key.progress", "another key"))
        (self.dir / "two/key.progress").unlink()
        self.resume(out="two")

    def test_kill_at_random_times(self):
        whole = self.keygen(*FIXED, "--cache", "4", params=SMALL, out="whole")
        started = time.monotonic()
        self.keygen(*FIXED, "--cache", "4", params=SMALL, out="timed")
        length = time.monotonic() - started
        for number in range(30):
            given = FIXED if number % 3 else ()
            out = f"k{number}"
            args = (*given, "--cache", "4")
            process = self.start("keygen", "--params", SMALL, "--out", self.dir / out, *args)
            time.sleep(random.uniform(0, 1.2 * length))
            process.kill()
            process.communicate()
            self.resume(*args, params=SMALL, out=out)
            if given:
                self.assertEqual((self.dir / out / "key.pub").read_bytes(), (whole / "key.pub").read_bytes())
            if number % 5 == 0:
                self.check_key(self.dir / out)
            else:
                self.assertEqual(self.inspect(self.dir / out / "key.key")["status"], "complete")

    def test_killed_again_and_again(self):
        whole = self.keygen(*FIXED, params=SMALL, out="whole")
        for pause in (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3):
            process = self.start("keygen", "--params", SMALL, "--out", self.dir / "key", "--resume", *FIXED)
            time.sleep(pause)
            process.kill()
            process.communicate()
        self.resume(params=SMALL, *FIXED)
        self.assertEqual((self.dir / "key/key.pub").read_bytes(), (whole / "key.pub").read_bytes())
        self.check_key(self.dir / "key")


if __name__ == "__main__":
    support.main()
