"""HSS signatures read and verified from the text of RFC 8554 alone: the tests' second opinion.

Typecodes: RFC 8554 section 5.1, SP 800-208 section 4, RFC 9858 section 3.
"""
import hashlib
import struct


def sha256(n):
    return lambda data: hashlib.sha256(data).digest()[:n]


def shake256(n):
    return lambda data: hashlib.shake_256(data).digest(n)


OTS, LMS = {}, {}  # type -> (hash, n, w) and (hash, m, h)
for family, (n, make) in enumerate(((32, sha256), (24, sha256), (32, shake256), (24, shake256))):
    for k in range(4):
        OTS[1 + 4 * family + k] = (make(n), n, 1 << k)
    for k in range(5):
        LMS[5 + 5 * family + k] = (make(n), n, 5 + 5 * k)


def chains(n, w):
    """p and ls of RFC 8554 Appendix B."""
    u = 8 * n // w
    v = (((1 << w) - 1) * u).bit_length()
    v = -(-v // w)
    return u + v, 16 - v * w


def coefficient(data, i, w):
    return data[i * w // 8] >> (8 - w * (i % (8 // w)) - w) & ((1 << w) - 1)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("too short")
        self.at += n
        return self.data[self.at - n:self.at]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]


def read_lms_signature(reader):
    q = reader.u32()
    ots_type = reader.u32()
    _, n, w = OTS[ots_type]
    p, _ = chains(n, w)
    c = reader.take(n)
    y = [reader.take(n) for _ in range(p)]
    lms_type = reader.u32()
    _, m, h = LMS[lms_type]
    return dict(q=q, ots=ots_type, c=c, y=y, lms=lms_type, path=[reader.take(m) for _ in range(h)])


def read_lms_key(reader):
    lms_type, ots_type = reader.u32(), reader.u32()
    identifier = reader.take(16)
    return dict(lms=lms_type, ots=ots_type, i=identifier, root=reader.take(LMS[lms_type][1]))


def lms_root(key, sig, message):
    """Candidate root, RFC 8554 Algorithms 4b and 6a."""
    hash_, n, w = OTS[key["ots"]]
    _, ls = chains(n, w)
    head = key["i"] + struct.pack(">I", sig["q"])
    digest = hash_(head + b"\x81\x81" + sig["c"] + message)
    check = sum((1 << w) - 1 - coefficient(digest, i, w) for i in range(8 * n // w))
    digest += struct.pack(">H", (check << ls) & 0xffff)
    z = b""
    for i, x in enumerate(sig["y"]):
        for j in range(coefficient(digest, i, w), (1 << w) - 1):
            x = hash_(head + struct.pack(">HB", i, j) + x)
        z += x
    h = LMS[key["lms"]][2]
    node = (1 << h) + sig["q"]
    value = hash_(key["i"] + struct.pack(">I", node) + b"\x82\x82" + hash_(head + b"\x80\x80" + z))
    for sibling in sig["path"]:
        pair = sibling + value if node & 1 else value + sibling
        node >>= 1
        value = hash_(key["i"] + struct.pack(">I", node) + b"\x83\x83" + pair)
    return value


def parse(signature):
    """Levels of a signature, top first, and the public keys between them."""
    reader = Reader(signature)
    levels, keys = [], []
    below = reader.u32()
    for level in range(below + 1):
        levels.append(read_lms_signature(reader))
        if level < below:
            start = reader.at
            keys.append(read_lms_key(reader))
            keys[-1]["bytes"] = reader.data[start:reader.at]
    if reader.at != len(signature):
        raise ValueError("trailing bytes")
    return levels, keys


def leaves(signature):
    return [level["q"] for level in parse(signature)[0]]


def index(signature):
    """Number of the signature over the whole hypertree."""
    number = 0
    for level in parse(signature)[0]:
        number = number << LMS[level["lms"]][2] | level["q"]
    return number


def verify(public_key, signature, message):
    """RFC 8554 section 6.3."""
    reader = Reader(public_key)
    if reader.u32() != struct.unpack(">I", signature[:4])[0] + 1:
        return False
    key = read_lms_key(reader)
    levels, keys = parse(signature)
    for level, sig in enumerate(levels):
        if (sig["ots"], sig["lms"]) != (key["ots"], key["lms"]):
            return False
        signed = keys[level]["bytes"] if level < len(keys) else message
        if lms_root(key, sig, signed) != key["root"]:
            return False
        key = keys[level] if level < len(keys) else key
    return True
