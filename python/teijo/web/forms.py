"""What a page sends: a small form, or a file, and never without the word that only a page knows."""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from teijo.errors import UnsafeError, UsageError
from teijo.units import KIB

FORM_BYTES_MOST: Final = 64 * KIB
FORM_TYPE: Final = "application/x-www-form-urlencoded"
WORD: Final = "word"
"""The field that has it; and of what is no form, the header."""
WORD_HEADER: Final = "x-teijo-word"
_AGAIN: Final = "Load the page again, and press once more."
_FIELDS_MOST: Final = 40
_WORD_BYTES: Final = 24


@dataclass(frozen=True)
class Forms:
    """The word of this server, which stands in each of its pages and in no other."""

    word: str = field(default_factory=lambda: secrets.token_urlsafe(_WORD_BYTES))

    async def read(self, request: Request) -> Mapping[str, str]:
        """Return the fields of a form.

        Raises:
            UnsafeError: a page of this server did not send it. UsageError: it is no form.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != FORM_TYPE:
            raise UsageError("This is no form.", remedy=_AGAIN)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > FORM_BYTES_MOST:
                raise UsageError("This form is too long.", remedy="Write less into it.")
        try:
            pairs = parse_qsl(
                body.decode(), keep_blank_values=True, strict_parsing=True,
                max_num_fields=_FIELDS_MOST,
            )  # fmt: skip
        except ValueError as error:
            raise UsageError("This is no form.", remedy=_AGAIN) from error
        fields = dict(pairs)
        self.check(fields.pop(WORD, ""))
        return fields

    def check(self, word: str) -> None:
        """Make sure that a page of this server asks.

        Raises:
            UnsafeError: it knows another word, or none.
        """
        if not hmac.compare_digest(word.encode(), self.word.encode()):
            raise UnsafeError(
                "This page is older than the server.",
                remedy=_AGAIN,
            )
