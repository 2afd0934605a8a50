"""HSS keys: over the ends of lower trees, up to eight levels, derived and independent child seeds."""
import os
import unittest

import hss
import support
from support import FIXED

FULL = bool(os.environ.get("COPPICE_TEST_FULL"))


class Hss(support.ProgramTest):
    def sign_many(self, key, count, check=lambda number: True):
        """One process per signature; every checked one is verified twice. Returns the signatures."""
        public = (key / "key.pub").read_bytes()
        signatures = []
        for number in range(count):
            name = f"{key.name}.{number}"
            signature = self.sign(key, name)
            self.assertEqual(hss.index(signature), number)
            if check(number):
                self.assertTrue(hss.verify(public, signature, self.message.read_bytes()), number)
                self.assertEqual(self.verify(key / "key.pub", self.dir / name), 0)
            signatures.append(signature)
        return signatures

    def below(self, signature):
        return [key["bytes"] for key in hss.parse(signature)[1]]

    def over_the_end(self, *args, **options):
        """33 signatures: the bottom tree changes after 32, the trees above stay."""
        key = self.keygen(*args, **options)
        signatures = self.sign_many(key, 34, check=lambda n: n in (0, 1, 30, 31, 32, 33))
        bottom = [self.below(s)[-1] for s in signatures]
        self.assertEqual(len(set(bottom[:32])), 1)
        self.assertEqual(len(set(bottom)), 2)
        self.assertEqual(bottom[32], bottom[33])
        # One leaf above signs one key below, always with the same bytes.
        upper = [hss.parse(s)[0][:-1] for s in signatures]
        self.assertEqual([u for u in upper[:32] if u != upper[0]], [])
        return signatures

    def test_two_levels(self):
        signatures = self.over_the_end(params="5/8,5/4", out="two")
        self.assertEqual([hss.leaves(s) for s in signatures[31:33]], [[0, 31], [1, 0]])

    def test_two_levels_independent(self):
        signatures = self.over_the_end("--independent-seeds", *FIXED, params="5/8,5/8", out="free")
        again = self.keygen("--independent-seeds", *FIXED, params="5/8,5/8", out="again")
        other = self.sign(again, "other")
        self.assertEqual((again / "key.pub").read_bytes(), (self.dir / "free/key.pub").read_bytes())
        # Drawn, not derived: the same seed above has other trees below.
        self.assertNotEqual(self.below(other), self.below(signatures[0]))

    def test_derived_children_follow_from_the_seed(self):
        a = self.sign(self.keygen(*FIXED, params="5/8,5/8", out="a"), "sa")
        b = self.sign(self.keygen(*FIXED, params="5/8,5/8", out="b"), "sb")
        self.assertEqual(a, b)

    def test_three_levels(self):
        self.over_the_end("--hash", "shake256-192", params="5/4,5/8,5/4", out="three")

    def test_eight_levels(self):
        for seeds in ((), ("--independent-seeds",)):
            key = self.keygen("--hash", "sha256-192", *seeds, params=",".join(["5/4"] * 8), out=f"eight{len(seeds)}")
            signatures = self.sign_many(key, 2)
            self.assertEqual(self.below(signatures[0]), self.below(signatures[1]))
            self.assertEqual([hss.leaves(s) for s in signatures], [[0] * 8, [0] * 7 + [1]])
            self.assertEqual(len(set(self.below(signatures[0]))), 7)
            state = self.inspect(key / "key.key")
            self.assertEqual((state["hss_levels"], state["signatures"]), (8, str(1 << 40)))

    @unittest.skipUnless(FULL, "long: 1026 signatures, one process each")
    def test_two_trees_end_at_once(self):
        for seeds in ((), ("--independent-seeds",)):
            key = self.keygen("--hash", "sha256-192", *seeds, params="5/8,5/8,5/8", out=f"long{len(seeds)}")
            signatures = self.sign_many(key, 1026, check=lambda n: n % 341 == 0 or n >= 1022)
            self.assertEqual([hss.leaves(s) for s in signatures[1023:1025]], [[0, 31, 31], [1, 0, 0]])
            self.assertEqual(len({self.below(s)[0] for s in signatures}), 2)
            self.assertEqual(len({self.below(s)[1] for s in signatures}), 33)


if __name__ == "__main__":
    support.main()
