"""Seeded changes of texts and bytes: pieces cut, doubled, swapped, and replaced by nasty ones."""

import random
from collections.abc import Callable, Sequence

NUMBERS = (
    "0", "-0", "-1", "1", "2", "7", "63", "64", "255", "256", "1024", "4096", "65536", "2147483648",
    "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "1e9", "1e300", "1e-300", "1e400", "nan",
    "inf", "-inf", "0x10", "1_000", "٣", "１", "0.5", ".5", "5.", "00", "+1", "9" * 40, "9" * 5000,
    "0." + "0" * 50 + "1",
)  # fmt: skip
UNITS = (
    "", "B", "k", "K", "KiB", "kB", "MiB", "MB", "GiB", "TiB", "TB", "EiB", "ns", "us", "µs", "ms",
    "s", "min", "m", "h", "d", "%", "/s", "M", "IOPS",
)  # fmt: skip
ODD = (
    "", " ", "\t", "\n", "\r\n", "\0", "\x1b[2J", "\x7f", "\x9b", "\u202e", "\u200b", "\u2028",
    "\ufeff", "\ud800", "\udcff", "é", "×", "漢", "😀", "\U000e0001", "'", '"', "\\", "`", "$(x)",
    "${x}", "{}", "{0}", "{x}", "%s", "<b>", "</script>", "&lt;", "=1+1", "../..", "~", "~x/y",
    "/dev/null", "/proc/self/mem", "a" * 300, "a" * 20_001, "(" * 60, "[" * 2000, "{" * 2000,
    ",,", ";;", "::", "==", "??", "&&", "//",
)  # fmt: skip


def any_text(seeds: Sequence[str], words: Sequence[str]) -> Callable[[random.Random], str]:
    """Return a maker of texts: a seed, changed in some places, among `words` of its language."""
    tokens = [*words, *words, *NUMBERS, *UNITS, *ODD]

    def make(dice: random.Random) -> str:
        text = dice.choice(seeds)
        for _ in range(1 + min(12, int(dice.expovariate(0.6)))):
            text = _changed(text, dice, tokens, seeds)
        return text[:400_000]

    return make


def any_bytes(seeds: Sequence[bytes]) -> Callable[[random.Random], bytes]:
    """Return a maker of bytes: a seed with bytes flipped, cut out, doubled or made extreme."""

    def make(dice: random.Random) -> bytes:
        data = bytearray(dice.choice(seeds))
        for _ in range(1 + min(30, int(dice.expovariate(0.4)))):
            at = dice.randrange(len(data) + 1)
            match dice.randrange(6):
                case 0 | 1 if at < len(data):
                    data[at] ^= 1 << dice.randrange(8)
                case 2 if at < len(data):
                    data[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
                case 3:
                    del data[at : at + dice.choice((1, 2, 8, 64, 4096))]
                case 4:
                    data[at:at] = data[at : at + dice.choice((1, 4, 16))]
                case _:
                    piece = dice.choice((b"\0" * 8, b"\xff" * 8, b"\x7f\xff\xff\xff", b"\x80\0"))
                    data[at : at + len(piece)] = piece
        return bytes(data)

    return make


def _changed(text: str, dice: random.Random, tokens: Sequence[str], seeds: Sequence[str]) -> str:
    start = dice.randrange(len(text) + 1)
    end = min(len(text), start + int(dice.expovariate(0.2)))
    match dice.randrange(8):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + text[start:]
        case 2:
            return text[:start] + dice.choice(seeds)[start:]
        case 3:
            return text[:start] + text[start:end] * dice.choice((2, 3, 40)) + text[end:]
        case 4:
            return (
                text[:start]
                + chr(dice.choice((0, 9, 10, 27, 34, 92, 127, 233, 0x2028)))
                + text[start:]
            )
        case _:
            return text[:start] + dice.choice(tokens) + text[dice.choice((start, end)) :]
