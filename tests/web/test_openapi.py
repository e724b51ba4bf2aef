"""The OpenAPI document forgets no address, and what the server answers is what it says."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.routing import Route

from teijo.runfile import reader
from teijo.web.app import application
from teijo.web.programs.openapi import ADDRESS, document
from teijo.web.serving import serving_of
from tests.runfile.samples import open_run
from tests.web.serving import Served, served

TOKEN = "a-token-of-24-characters"
MEMBERS = {
    "document": {"openapi", "info", "servers", "security", "paths", "components"},
    "info": {"title", "version", "description"},
    "operation": {"summary", "parameters", "responses"},
    "parameter": {"name", "in", "required", "description", "schema", "explode"},
    "response": {"description", "content"},
    "components": {"schemas", "responses", "securitySchemes"},
}
"""The parts of OpenAPI 3.1 that are used, and what each of them may have here."""


@pytest.fixture(scope="module")
def site(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(simulated, folder / "one.teijo")
    (folder / "bad.teijo").write_bytes(b"nothing")
    open_run(folder / "live.teijo", reader.read(simulated)).close()
    with served(folder) as found:
        yield found


def schema_of(path: str, status: str = "200", kind: str = "application/json") -> Any:
    answer = resolved(document()["paths"][path]["get"]["responses"][status])
    # References lead into the document, so the schema is looked at within it.
    return {**answer["content"][kind]["schema"], "components": document()["components"]}


def resolved(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = part
    while "$ref" in found:
        reference, found = found["$ref"], document()
        assert reference.startswith("#/")
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]
    return found


def holds(schema: Any, answer: Any) -> None:
    Draft202012Validator(schema).validate(answer)


def test_no_route_of_the_server_is_forgotten_and_none_is_made_up(tmp_path: Path) -> None:
    app = application(serving_of(tmp_path)).app
    assert isinstance(app, Starlette)
    there = {
        re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path)
        for route in app.routes
        if isinstance(route, Route) and (route.path.startswith("/api/") or route.path == "/metrics")
    }
    assert there == document()["paths"].keys()


def test_the_server_gives_the_document(site: Served) -> None:
    answer = site.ask(ADDRESS)
    assert (answer.status, answer.json) == (200, document())
    assert site.ask(ADDRESS, method="HEAD").text == ""
    holds(schema_of(ADDRESS), answer.json)


def test_the_list_is_as_described(site: Served) -> None:
    rows = site.runs()
    assert len(rows) == 3
    for query in ("", "?trouble=yes", "?q=nothing", "?ending=left%20open", "?lang=ja"):
        holds(schema_of("/api/v1/runs"), site.ask(f"/api/v1/runs{query}").json)
    assert site.ask("/api/v1/runs?trouble=yes").json["total"] == 1


def test_a_run_is_as_described_whether_it_goes_on_or_not(site: Served) -> None:
    rows = site.runs()
    for name in ("one.teijo", "live.teijo.open"):
        for language in ("en", "ja"):
            answer = site.ask(f"/api/v1/runs/{rows[name]['id']}?lang={language}").json
            holds(schema_of("/api/v1/runs/{key}"), answer)
    (parameter,) = (each for each in parameters("/api/v1/runs/{key}") if each["in"] == "path")
    assert all(re.search(parameter["schema"]["pattern"], row["id"]) for row in rows.values())


def test_errors_are_as_described(site: Served, tmp_path: Path) -> None:
    for path in ("/api/v1/runs/unknown", "/api/v1/nothing"):
        answer = site.ask(path)
        assert answer.status == 404
        holds(schema_of("/api/v1/runs/{key}", "404"), answer.json)
    assert site.ask("/api/v1/runs", host="evil.example").status == 421
    assert site.ask("/api/v1/runs", headers={"Origin": "http://evil.example"}).status == 403
    with served(tmp_path, token=TOKEN) as locked:
        answer = locked.ask(ADDRESS)
        assert answer.status == 401
        assert answer.headers["content-type"].startswith("text/plain")
        for headers in ({"Cookie": f"teijo={TOKEN}"}, {"Authorization": f"Bearer {TOKEN}"}):
            assert locked.ask(ADDRESS, headers=headers).status == 200


def test_the_metrics_have_the_media_types_that_are_described(site: Served) -> None:
    kinds = document()["paths"]["/metrics"]["get"]["responses"]["200"]["content"]
    for kind in kinds:
        assert site.ask("/metrics", headers={"Accept": kind}).headers["content-type"] == kind


def test_every_parameter_of_the_list_is_understood(site: Served) -> None:
    site.runs()
    for each in parameters("/api/v1/runs"):
        schema = each["schema"]
        if each["name"] == "sort":
            answers = [site.ask(f"/api/v1/runs?sort={value}").json for value in schema["enum"]]
            assert all(answer["total"] == 3 for answer in answers)
        elif each["name"] in ("since", "until"):
            day = {"since": "9999-12-31", "until": "0001-01-01"}[each["name"]]
            assert site.ask(f"/api/v1/runs?{each['name']}={day}").json["total"] == 0
        elif each["name"] not in ("page", "lang", "trouble"):
            assert site.ask(f"/api/v1/runs?{each['name']}=nowhere").json["total"] == 0, each["name"]


def parameters(path: str) -> list[Any]:
    return list(document()["paths"][path]["get"]["parameters"])


def test_the_document_is_openapi() -> None:
    whole = document()
    assert whole.keys() == MEMBERS["document"]
    assert whole["openapi"] == "3.1.0"
    assert whole["info"].keys() == MEMBERS["info"]
    assert whole["servers"] == [{"url": "/"}]
    assert whole["components"].keys() == MEMBERS["components"]
    for asked in whole["security"]:
        assert asked.keys() <= whole["components"]["securitySchemes"].keys()
    for path, item in whole["paths"].items():
        assert path.startswith("/")
        assert item.keys() == {"get"}
        operation = item["get"]
        assert operation.keys() == MEMBERS["operation"]
        assert operation["summary"]
        in_path = set(re.findall(r"\{(\w+)\}", path))
        assert {each["name"] for each in parameters(path) if each["in"] == "path"} == in_path
        assert len({(each["in"], each["name"]) for each in parameters(path)}) == len(
            parameters(path)
        )
        assert "200" in operation["responses"]


def test_every_part_has_a_meaning_and_every_schema_is_one() -> None:
    for path, item in document()["paths"].items():
        for each in parameters(path):
            assert each.keys() <= MEMBERS["parameter"]
            assert each["in"] in ("query", "path")
            assert each["required"] is (each["in"] == "path")
            assert each["description"]
            Draft202012Validator.check_schema(each["schema"])
        for status, response in item["get"]["responses"].items():
            assert re.fullmatch(r"[2-5]\d\d", status)
            told = resolved(response)
            assert told.keys() == MEMBERS["response"]
            assert told["description"]
            for kind, media in told["content"].items():
                assert "/" in kind
                assert media.keys() == {"schema"}
                Draft202012Validator.check_schema(media["schema"])
                assert_described(media["schema"], f"{path} {status}")


def assert_described(schema: Mapping[str, Any], place: str) -> None:
    """Hold that each property has a meaning, and that no object may have others."""
    if "properties" in schema:
        assert schema["additionalProperties"] is False, place
    for name, each in schema.get("properties", {}).items():
        assert each["description"], f"{place}: {name}"
        assert_described(each, f"{place}: {name}")
    for each in schema.get("prefixItems", ()):
        assert each["description"], place
    if "items" in schema:
        assert_described(schema["items"], place)
