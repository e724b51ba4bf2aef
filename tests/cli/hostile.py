"""Texts that attack whoever shows them, put into every text of a run, one place after another."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any
from unicodedata import category

ATTACKS = (
    '=HYPERLINK("http://x.invalid","y")',
    "@SUM(1)",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "\x9b31m\x90q\x7f\x00\x08\x08",
    "a\r\nerror: forged\nteijo run --destroy",
    "\u202egnp.exe\u2066\u2069\u200b\u200d\ufeff\u2028\u2029\u0085\ud800",
    "[red]x[/red][link=file:///etc/passwd]y[/link]",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" ' onfocus='alert(1)' ]]> --> &lt;b&gt; <!--",
    '#read("/etc/passwd") #image("x.png") @x $x$ *b* _i_ `c` \\',
    "../../../../etc/passwd",
    "{name} {0} %s %(x)s ${HOME} $(id) `id` {{x}}",
    "image",
)
ALL = " ".join(ATTACKS)
SPEAKABLE = ALL.replace("\ud800", "")
"""All of them but the lone surrogate, which no file in UTF-8 holds."""
FORMULAS = tuple("=+-@\t\r")

Place = tuple[object, ...]


def texts_of(part: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every text within a record: its attributes, keys and numbers.

    A place that ends in a key alone, `("key", k)`, is the key itself.
    """
    if isinstance(part, str) and not isinstance(part, Enum):
        yield place
    elif is_dataclass(part) and not isinstance(part, type):
        for each in fields(part):
            yield from texts_of(getattr(part, each.name), (*place, each.name))
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from texts_of(value, (*place, key))
            if isinstance(key, str):
                yield (*place, ("key", key))
    elif isinstance(part, tuple | list):
        for at, value in enumerate(part):
            yield from texts_of(value, (*place, at))


def put_in(part: Any, place: Place, text: str) -> Any:
    """Return a record with a text in one place."""
    if not place:
        return text
    first, *rest = place
    inner = tuple(rest)
    if isinstance(first, tuple):
        return {(text if key == first[1] else key): value for key, value in part.items()}
    if isinstance(part, Mapping):
        return {k: put_in(v, inner, text) if k == first else v for k, v in part.items()}
    if isinstance(part, tuple | list):
        return type(part)(put_in(v, inner, text) if n == first else v for n, v in enumerate(part))
    assert isinstance(first, str)
    return replace(part, **{first: put_in(getattr(part, first), inner, text)})


def obeyed(text: str) -> str:
    """Return the characters of a text that a terminal would obey or that hide; line ends aside."""
    unseen = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return "".join(letter for letter in set(text) - {"\n"} if category(letter) in unseen)
