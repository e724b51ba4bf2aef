"""Long tables of a report that nobody has opened yet: text, which costs a browser next to nothing.

A day second by second has tables of thousands of rows, each folded. As elements they take a browser
longer to read, and more memory, than all the rest of the page.
"""

import re
from typing import Final

LONG_CHARACTERS: Final = 20_000
_FOLD: Final = re.compile(r"<details[^>]*>.*?</details>", re.DOTALL)
_TABLE: Final = re.compile(r"<table\b.*?</table>", re.DOTALL)


def folded(sections: str) -> str:
    """Return the sections of a report; the page's script makes a long table when it is opened."""
    return _FOLD.sub(lambda fold: _TABLE.sub(_as_text, fold[0]), sections)


def _as_text(table: re.Match[str]) -> str:
    # A report's texts are escaped: nothing in a table ends a script element.
    if len(table[0]) < LONG_CHARACTERS or "</script" in table[0]:
        return table[0]
    return f'<script type="text/plain" class="folded">{table[0]}</script>'
