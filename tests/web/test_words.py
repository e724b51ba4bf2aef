"""Whatever the pages say, they say in Japanese too."""

import re

from teijo.speech import tongue
from tests.house.tree import PACKAGE

WORDS = re.compile(r"\btr\(\s*([\"'])(.*?)\1")


def said() -> set[str]:
    paths = [path for kind in ("*.py", "*.html") for path in (PACKAGE / "web").rglob(kind)]
    return {words for path in paths for _, words in WORDS.findall(path.read_text("utf-8"))}


def test_every_word_of_a_page_is_translated() -> None:
    texts, _ = tongue.catalogue("ja")
    assert len(said()) > 30
    assert sorted(said() - texts.keys()) == []
