"""Runs that are started, stopped and resumed from the page, and what is refused."""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.device import inspect_target
from teijo.errors import UnsafeError, UsageError
from teijo.runfile import reader
from teijo.web import jobs, starting
from teijo.web.jobs import Jobs
from teijo.web.serving import serving_of
from teijo.web.starting import Order
from tests.web.serving import Answer, Served, served

SIM = "sim:slc-a"
SHORT = {"target": SIM, "text": "capacity=1GiB", "method": "workload"}
TOKEN = "a-token-of-24-characters"
QUICKLY = "rw=randrw seconds=2"
LONG = {"target": SIM, "text": "capacity=64GiB", "method": "pts.iops"}
"""A run that takes minutes wherever it runs; it is stopped before."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "runs").mkdir()
    (tmp_path / "files").mkdir()
    with served(tmp_path / "runs", files=[tmp_path / "files"]) as found:
        yield found


def state_of(site: Served, job: str) -> dict[str, Any]:
    found: dict[str, Any] = site.ask(f"{job.partition('?')[0]}/state").json
    return found


def begun(site: Served, answer: Answer) -> str:
    """Return the id of the run that a form has begun, once its page is there."""
    assert answer.status == 303, answer.text
    while not (state := state_of(site, answer.headers["location"]))["href"]:
        assert not state["told"], state
        threading.Event().wait(0.05)
    return re.fullmatch(r"/runs/(\w+)\?lang=en", state["href"])[1]  # type: ignore[index]


def ended(site: Served, key: str) -> dict[str, Any]:
    while (state := site.ask(f"/api/v1/runs/{key}").json["state"])["ending"] == "running":
        threading.Event().wait(0.05)
    found: dict[str, Any] = state
    return found


def refusal(site: Served, answer: Answer) -> str:
    """Return why a form was refused, at once or by the process that it began."""
    if answer.status != 303:
        assert answer.status == 400
        return answer.text
    while not (state := state_of(site, answer.headers["location"]))["told"]:
        assert not state["href"], "it was begun"
        threading.Event().wait(0.05)
    return str(state["told"])


def test_a_run_that_is_started_is_the_one_of_the_command_line_it_shows(
    site: Served, tmp_path: Path
) -> None:
    answer = site.send("/start", **SHORT, settings=f"{QUICKLY} bs=8KiB")
    page = site.ask(answer.headers["location"])
    key = begun(site, answer)
    assert ended(site, key)["ending"] == "done"
    (path,) = (tmp_path / "runs").glob("*.teijo")
    command = f"teijo run workload &#39;{SIM}?capacity=1GiB&#39; --set rw=randrw --set seconds=2"
    assert f"{command} --set bs=8KiB --report none --progress none -o {path}" in page.text
    record = api.open(path).record
    assert record.identity.target == f"{SIM}?capacity=1GiB"
    again = tmp_path / "again.teijo"
    settings = {"rw": "randrw", "seconds": "2", "bs": "8KiB"}
    by_hand = api.run("workload", record.identity.target, output=again, settings=settings)
    assert record.run.settings == by_hand.record.run.settings
    assert {path.name for path in (tmp_path / "runs").iterdir()} <= {
        path.name,
        ".teijo-index.sqlite",
    }


def test_a_run_is_stopped_and_goes_on_where_it_was_left(site: Served, tmp_path: Path) -> None:
    key = begun(site, site.send("/start", **LONG))
    assert site.send(f"/runs/{key}/stop").status == 303
    assert ended(site, key)["ending"] == "interrupted"
    answer = site.send(f"/runs/{key}/resume")
    assert answer.status == 303
    while site.ask(f"/api/v1/runs/{key}").json["state"]["ending"] == "interrupted":
        threading.Event().wait(0.05)
    site.send(f"/runs/{key}/stop")
    ended(site, key)
    (path,) = (tmp_path / "runs").glob("*.teijo.open")
    kinds = [remark.kind.value for remark in reader.read(path).remarks]
    assert "resumed" in kinds


@pytest.mark.long
def test_one_run_at_a_time_is_on_a_target_and_the_others_wait(site: Served) -> None:
    first = begun(site, site.send("/start", **LONG))
    second = site.send("/start", **LONG).headers["location"]
    third = site.send("/start", **LONG).headers["location"]
    other = begun(site, site.send("/start", **SHORT, settings=QUICKLY))
    assert ended(site, other)["ending"] == "done", "another target waits for nobody"
    assert state_of(site, second)["state"] == "waits; 1 before it on the same target"
    assert state_of(site, third)["state"] == "waits; 2 before it on the same target"
    number = second.removeprefix("/jobs/").partition("?")[0]
    assert site.send(f"/jobs/{number}/take-back").status == 303
    assert state_of(site, second)["state"] == "taken back"
    site.send(f"/runs/{first}/stop")
    ended(site, first)
    while not (href := state_of(site, third)["href"]):
        threading.Event().wait(0.05)
    site.send(f"{href.partition('?')[0]}/stop")


def test_a_run_goes_on_when_its_server_ends(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs") as site:
        key = begun(site, site.send("/start", **LONG))
    with served(tmp_path / "runs") as site:
        site.runs()
        assert site.ask(f"/api/v1/runs/{key}").json["state"]["ending"] == "running"
        site.send(f"/runs/{key}/stop")
        assert ended(site, key)["ending"] == "interrupted"


def test_a_new_file_is_made_in_the_folder_that_was_given(site: Served, tmp_path: Path) -> None:
    fields = {"target": "new:0", "size": "16MiB", "method": "workload"}
    key = begun(site, site.send("/start", **fields, settings="rw=randwrite bytes=4MiB"))
    assert ended(site, key)["ending"] == "done"
    (made,) = (tmp_path / "files").iterdir()
    assert made.stat().st_size == 16 << 20


def test_an_existing_file_is_overwritten_only_when_its_name_was_typed(
    site: Served, tmp_path: Path
) -> None:
    kept = tmp_path / "files" / "kept.img"
    kept.write_bytes(os.urandom(16 << 20))
    before = kept.read_bytes()
    found = re.search(r'value="(file:\w+)" data-kind="file" data-consent="kept.img"',
                      site.ask("/start").text)  # fmt: skip
    assert found is not None
    fields = {"target": found[1], "method": "workload", "settings": "rw=randwrite bytes=4MiB"}
    assert "exists" in refusal(site, site.send("/start", **fields))
    assert "not what this target" in refusal(site, site.send("/start", **fields, typed="kept"))
    assert kept.read_bytes() == before
    key = begun(site, site.send("/start", **fields, typed="kept.img"))
    assert ended(site, key)["ending"] == "done"
    assert kept.read_bytes() != before


@pytest.mark.parametrize(
    "target",
    [
        "", "/etc/passwd", "new:1", "new:-1", "new:0/../..", "file:../kept.img", "device:/dev/vda",
        "sim:nothing", "stripe:/dev/vda,/dev/vdb", "dir:/tmp", "sqlite:/tmp/x.db",
    ],
)  # fmt: skip
def test_nothing_is_started_on_what_is_not_offered(
    site: Served, tmp_path: Path, target: str
) -> None:
    answer = site.send("/start", target=target, method="workload", size="16MiB")
    assert answer.status == 400
    assert not any((tmp_path / "files").iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "sim:/etc/passwd.toml",
        "/tmp/x.toml",
        "x.toml?a=b",
        "nothing",
        "raid5(2×/dev/vda)",
        "mlc-a?x",
    ],
)
def test_a_device_that_is_written_out_is_simulated_or_none(site: Served, text: str) -> None:
    answer = site.send("/start", target="sim:", text=text, method="workload", settings=QUICKLY)
    assert refusal(site, answer)


@pytest.mark.parametrize(
    "settings",
    ["hook=./x.sh", "--destroy=1", "-o/etc/x", "rw", "'", "=1", "rw=randread --overwrite",
     "plan=x hook='sh -c id'"],
)  # fmt: skip
def test_a_setting_is_a_setting_and_starts_no_program(site: Served, settings: str) -> None:
    assert site.send("/start", **SHORT, settings=settings).status == 400


@pytest.mark.parametrize("method", ["files", "sql", "classic.bonnie", "nothing", "--help", "oltp"])
def test_a_method_that_works_on_no_blocks_is_refused(site: Served, method: str) -> None:
    assert site.send("/start", target=SIM, method=method).status == 400


def test_what_a_process_says_is_told(site: Served) -> None:
    answer = site.send("/start", **SHORT | {"text": "capacity=1GiB&seed=x"}, settings=QUICKLY)
    assert "seed" in refusal(site, answer)
    assert site.ask("/").text.count("did not begin") == 1


def test_a_form_without_the_word_of_the_server_starts_nothing(site: Served, tmp_path: Path) -> None:
    for word in ("", "x", site.word()[:-1]):
        assert site.send("/start", **SHORT, settings=QUICKLY, word=word).status == 403
    wrong: list[dict[str, str]] = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"},
    ]
    for headers in wrong:
        assert site.send("/start", **SHORT, settings=QUICKLY, headers=headers).status == 403
    kinds = ("text/plain", "multipart/form-data; boundary=x", "application/json")
    for kind in kinds:
        headers = {"Content-Type": kind}
        assert site.send("/start", **SHORT, settings=QUICKLY, headers=headers).status == 400
    assert not [*(tmp_path / "runs").glob("*.teijo*")]


def test_a_form_says_where_it_is_from_and_is_short(site: Served) -> None:
    assert site.ask("/start", method="POST").status == 405, "no origin"
    body = f"word={site.word()}&settings={'x' * (64 << 10)}".encode()
    headers = {"Origin": site.address, "Content-Length": str(len(body))}
    assert site.ask("/start", method="POST", headers=headers, body=body[:10]).status == 413
    chunked = {"Origin": site.address, "Transfer-Encoding": "chunked"}
    assert site.ask("/start", method="POST", headers=chunked).status == 413


def test_where_nothing_is_started_no_form_is_taken(tmp_path: Path, simulated: Path) -> None:
    shutil.copy(simulated, tmp_path / "one.teijo")
    with served(tmp_path, read_only=True) as site:
        key = site.runs()["one.teijo"]["id"]
        for path in ("/start", f"/runs/{key}/stop", f"/runs/{key}/resume", "/upload"):
            assert site.send(path, word="x").status == 405
        assert site.ask("/start").status == 404
        for path in ("/", f"/runs/{key}"):
            assert 'method="post"' not in site.ask(path).text


def test_the_queue_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.Job, "begin", lambda job: setattr(job, "state", "waiting"))
    queue = Jobs(tmp_path)
    order = Order(method="workload", target=SIM, place=SIM, words=("run",))
    paths = {queue.add(order).path for _ in range(jobs.WAITING_MOST)}
    assert len(paths) == jobs.WAITING_MOST, "each has a file of its own"
    with pytest.raises(UsageError, match="wait already"):
        queue.add(order)


@pytest.mark.parametrize(
    "target",
    ["{tmp}/secret.img?size=16MiB", "{tmp}/files/link.img", "/dev/vda", "dir:/", "sqlite:/tmp/x.db",
     "concat:/dev/vda,/dev/vdb", "sim:/etc/x.toml", "{tmp}/files/../secret.img"],
)  # fmt: skip
def test_a_run_file_of_anybody_resumes_on_nothing_that_is_not_offered(
    simulated: Path, tmp_path: Path, target: str
) -> None:
    secret = tmp_path / "secret.img"
    secret.write_bytes(b"\1" * (16 << 20))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "link.img").symlink_to(secret)
    serving = serving_of(tmp_path, files=[tmp_path / "files"])
    record = reader.read(simulated)
    of_anybody = replace(
        record, identity=replace(record.identity, target=target.format(tmp=tmp_path))
    )
    with pytest.raises(UnsafeError, match="may not start"):
        starting.resumed(of_anybody, tmp_path / "x.teijo.open", "secret.img", serving)


def test_a_device_is_offered_by_its_serial_alone_and_the_serial_is_typed(
    tmp_path: Path, loop_device: Path
) -> None:
    number = inspect_target(str(loop_device)).destroy
    assert not [o for o in starting.offers(serving_of(tmp_path)) if o.kind == "device"]
    serving = serving_of(tmp_path, destroy=number, token="")
    (offer,) = [each for each in starting.offers(serving) if each.kind == "device"]
    assert offer.text == str(loop_device)
    asked = starting.Asked(target=offer.key, method="workload", settings="rw=randwrite")
    for typed in ("", number[:-1], number.upper(), f"{number},x"):
        with pytest.raises(UnsafeError):
            starting.order_of(replace(asked, typed=typed), serving)
    words = starting.order_of(replace(asked, typed=number), serving).words
    assert f"--destroy={number}" in words
    assert "--overwrite" not in words


def test_a_device_is_written_only_after_its_serial_was_typed(
    tmp_path: Path, loop_device: Path, scratch: Path
) -> None:
    backing, number = scratch / "backing", inspect_target(str(loop_device)).destroy
    before = backing.read_bytes()
    known = {"Authorization": f"Bearer {TOKEN}"}
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs", token=TOKEN, destroy=number) as site:
        page = site.ask("/start", headers=known).text
        word = re.search(r'name="word" value="([^"]+)"', page)
        key = re.search(r'value="(device:\w+)"', page)
        assert word is not None
        assert key is not None
        fields = {"target": key[1], "method": "workload", "word": word[1]}
        fields |= {"settings": "rw=randwrite bytes=4MiB"}
        for typed in ("", number[:-1], f"{number},{number}"):
            assert site.send("/start", **fields, typed=typed, headers=known).status == 400
        assert site.send("/start", **fields, typed=number).status == 401, "without the token"
        assert backing.read_bytes() == before
        job = site.send("/start", **fields, typed=number, headers=known).headers["location"]
        state = f"{job.partition('?')[0]}/state"
        while not (now := site.ask(state, headers=known).json)["href"]:
            assert not now["told"], now
            threading.Event().wait(0.05)
        run = f"/api/v1{now['href'].partition('?')[0]}"
        while site.ask(run, headers=known).json["state"]["ending"] == "running":
            threading.Event().wait(0.05)
    assert backing.read_bytes() != before


def test_a_server_that_may_destroy_asks_for_a_token(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="everybody who is logged in"):
        serving_of(tmp_path, destroy="S1")
    assert serving_of(tmp_path, destroy="S1,S2", token="").destroy == ("S1", "S2")


def test_read_only_and_what_may_be_started_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--read-only"):
        serving_of(tmp_path, destroy="S1", token="", read_only=True)
    with pytest.raises(UsageError, match="--read-only"):
        serving_of(tmp_path, files=[tmp_path], read_only=True)
    with pytest.raises(UsageError, match="no folder"):
        serving_of(tmp_path, files=[tmp_path / "x"])
