"""What a module of this room says of its addresses, in the words of OpenAPI 3.1.

Each has `describe` beside `routes`: paths by their addresses, which openapi.py puts together.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

Json = dict[str, Any]
REFUSED: Final[Mapping[str, str]] = {
    "401": "The server asks for a token, and none or another was given.",
    "403": "Another site's page asked.",
    "421": "The server has another name than the one it was asked by.",
    "429": "Too many requests; wait a second.",
}
"""What every address may answer in plain text, by its status."""
FAILED: Final[Mapping[str, str]] = {
    "400": "What was asked cannot be answered; the message says why.",
    "404": "There is no such run or device, or it cannot be read.",
    "500": "Teijo itself failed.",
}
"""What an address under /api may answer as JSON."""


def text(meaning: str, **more: Any) -> Json:
    """Return the schema of a text."""
    return {"type": "string", "description": meaning, **more}


def one_of(values: Iterable[str], meaning: str) -> Json:
    """Return the schema of a text that has one of these values."""
    return text(meaning, enum=[*values])


def number(meaning: str, **more: Any) -> Json:
    """Return the schema of a number; the meaning names its unit."""
    return {"type": "number", "description": meaning, **more}


def whole(meaning: str, **more: Any) -> Json:
    """Return the schema of a whole number, which is not negative."""
    return {"type": "integer", "minimum": 0, "description": meaning, **more}


def truth(meaning: str) -> Json:
    """Return the schema of true or false."""
    return {"type": "boolean", "description": meaning}


def or_null(schema: Json) -> Json:
    """Return a schema that null fits too: what it describes is not known, or not there."""
    return schema | {"type": [schema["type"], "null"]}


def rows(items: Json, meaning: str) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": items, "description": meaning}


def columns(each: Sequence[Json], meaning: str) -> Json:
    """Return the schema of a list that has one entry of each schema, in this order."""
    size = len(each)
    return {
        "type": "array",
        "prefixItems": [*each],
        "minItems": size,
        "maxItems": size,
        "description": meaning,
    }


def table(properties: Mapping[str, Json], meaning: str = "") -> Json:
    """Return the schema of an object that has all of these properties and no other."""
    return {
        "type": "object",
        "properties": {**properties},
        "required": [*properties],
        "additionalProperties": False,
        "description": meaning,
    }


def opened(meaning: str) -> Json:
    """Return the schema of an object that is described elsewhere, where `meaning` says."""
    return {"type": "object", "description": meaning}


def parameter(
    name: str, schema: Json, *, place: Literal["query", "path"] = "query", **more: Any
) -> Json:
    """Return a parameter of an address, whose meaning is that of its schema."""
    kept = {key: value for key, value in schema.items() if key != "description"}
    meaning = schema["description"]
    required = place == "path"
    return {
        "name": name,
        "in": place,
        "required": required,
        "description": meaning,
        "schema": kept,
        **more,
    }


def asked(
    summary: str,
    answers: Mapping[str, Json],
    parameters: Sequence[Json] = (),
    failed: Iterable[str] = FAILED,
) -> Json:
    """Return an address that is asked with GET or HEAD; `answers` are schemas by media type.

    `failed` are the statuses with an error as JSON that it may have.
    """
    return {
        "get": {
            "summary": summary,
            "parameters": [*parameters],
            "responses": {
                "200": {
                    "description": summary,
                    "content": {kind: {"schema": schema} for kind, schema in answers.items()},
                },
                **{
                    status: {"$ref": f"#/components/responses/{status}"}
                    for status in (*REFUSED, *failed)
                },
            },
        }
    }


def asked_json(summary: str, answer: Json, parameters: Sequence[Json] = ()) -> Json:
    """Return an address that answers with JSON of a schema."""
    return asked(summary, {"application/json": answer}, parameters)
