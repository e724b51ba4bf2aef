"""Consent belongs to one plan and names each drive; a fleet's own file is no consent."""

import json
from pathlib import Path

import pytest

from teijo.errors import PlanError, UnsafeError
from teijo.fleet.consent import consent_text, objections, read_consent, refuse
from teijo.fleet.drives import meant_by
from teijo.fleet.manifest import NAME, HostSeen, Manifest, check_own, read_manifest, write_manifest
from tests.fleet.plans import drive, plan, told

DRIVES = '[[targets]]\nmodel = "ACME*"\n'


def test_the_consent_that_is_printed_covers_the_plan_and_no_other(tmp_path: Path) -> None:
    asked, serials = plan(DRIVES), ["S1", 'odd " \\ one', "S3"]
    path = tmp_path / "yes.toml"
    path.write_text(consent_text(asked, serials))
    given = read_consent(path)
    assert not objections(asked, serials, given)
    assert objections(asked, [*serials, "S4"], given) == ["There is no consent to destroy S4"]
    (another,) = objections(plan(DRIVES + "count = 1\n"), serials, given)
    assert "another plan" in another


def test_without_a_consent_every_serial_is_named_and_without_a_drive_none_is_needed() -> None:
    asked = plan(DRIVES)
    assert len(objections(asked, ["S1", "S2"], None)) == 2
    assert not objections(asked, [], None)
    with pytest.raises(UnsafeError) as refused:
        refuse(objections(asked, ["S1", "S2"], None))
    assert len(refused.value.details) == 2


@pytest.mark.parametrize("text", ["", "plan = 1\n", 'plan = "x"\nforce = true\n', "[", "\x00"])
def test_what_is_no_consent_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "yes.toml"
    path.write_text(text)
    with pytest.raises(PlanError):
        read_consent(path)


def manifest() -> Manifest:
    asked = plan(DRIVES)
    orders = meant_by(asked, {"local": told(drive("S1"), drive("S2"))}, 7).orders
    seen = {"local": HostSeen(folder="/x")}
    return Manifest(digest=asked.digest, plan=asked, seed=7, hosts=seen, orders=tuple(orders))


def test_a_fleet_is_read_as_it_was_written_and_never_written_twice(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    assert read_manifest(tmp_path) == manifest()
    with pytest.raises(PlanError, match="already"):
        write_manifest(tmp_path, manifest())


def test_a_fleet_that_somebody_else_can_have_written_is_not_acted_on(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    path = tmp_path / NAME
    check_own(tmp_path)
    path.chmod(0o666)
    with pytest.raises(UnsafeError):
        check_own(tmp_path)
    path.chmod(0o644)
    path.rename(tmp_path / "real")
    path.symlink_to(tmp_path / "real")
    with pytest.raises(UnsafeError):
        check_own(tmp_path)
    path.unlink()
    with pytest.raises(PlanError):
        check_own(tmp_path)


def test_a_file_of_a_fleet_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    whole = json.loads((tmp_path / NAME).read_text())

    def forged(change: str) -> str:
        one = json.loads(json.dumps(whole))
        match change:
            case "run":
                one["orders"][0]["run"] = "../../etc/x.teijo"
            case "twice":
                one["orders"][0]["run"] = one["orders"][1]["run"]
            case "host":
                one["orders"][0]["host"] = "elsewhere"
            case "plan":
                one["plan"]["method"] = "wsat"
            case "more":
                one["orders"][0]["hook"] = "rm"
            case "version":
                one["version"] = 2
        return json.dumps(one)

    texts = [forged(each) for each in ("run", "twice", "host", "plan", "more", "version")]
    for text in (*texts, "", "[]", "{" * 5000, json.dumps(whole)[:-1]):
        (tmp_path / NAME).write_text(text)
        with pytest.raises(PlanError):
            read_manifest(tmp_path)
