"""Who may ask, and for what: whatever a foreign page, a guess or a script tries is refused."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo.web.guard import BURST, HEADERS, Rates
from tests.web.serving import Served, served

TOKEN = "a-token-of-24-characters"
FOREIGN = "http://evil.example"


@pytest.fixture(scope="module")
def site(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(simulated, folder / "one.teijo")
    (folder.parent / "secret.teijo").write_text("secret")
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def locked(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("locked")
    shutil.copy(simulated, folder / "one.teijo")
    with served(folder, token=TOKEN) as found:
        yield found


def test_its_own_names_are_answered(site: Served) -> None:
    for host in (f"127.0.0.1:{site.port}", f"localhost:{site.port}", f"[::1]:{site.port}"):
        assert site.ask("/", host=host).status == 200, host


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "",
        "127.0.0.1:{port}.evil",
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(site: Served, host: str) -> None:
    answer = site.ask("/", host=host.format(port=site.port))
    assert answer.status in (400, 421)
    assert "teijo" not in answer.text.lower()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": FOREIGN},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ],
)
def test_a_foreign_page_reads_nothing(site: Served, headers: dict[str, str]) -> None:
    for path in ("/", "/api/v1/runs", "/static/app.css"):
        assert site.ask(path, headers=headers).status == 403


def test_a_link_from_elsewhere_may_lead_here(site: Served) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert site.ask("/", headers=headers).status == 200
    assert site.ask("/", headers={"Origin": site.address}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(site: Served, method: str) -> None:
    assert site.ask("/", method=method).status == 405


@pytest.mark.parametrize(
    "sent", [{"Content-Length": str(1 << 30)}, {"Transfer-Encoding": "chunked"}]
)
def test_a_gigabyte_is_refused_before_it_is_read(site: Served, sent: dict[str, str]) -> None:
    assert site.ask("/", headers=sent).status == 413


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../secret.teijo",
        "/runs/..%2fsecret.teijo",
        "/runs/%2e%2e/secret.teijo/report",
        "/runs/secret.teijo",
        "/runs/" + "0" * 24,
        "/runs/" + "a" * 4000,
        "/runs/%00",
        "/static/..%2fapp.py",
        "/static/../app.py",
        "/static/templates",
        "//etc/passwd",
        "/api/v1/runs/..%2f..%2fsecret.teijo",
    ],
)
def test_no_path_of_an_address_reaches_a_file(site: Served, path: str) -> None:
    answer = site.ask(path)
    assert answer.status in (400, 404)
    assert "secret" not in answer.text.replace("secret.teijo", "")
    assert "Traceback" not in answer.text


def test_every_answer_keeps_other_pages_and_scripts_out(site: Served) -> None:
    asked = [
        site.ask("/"),
        site.ask("/nothing"),
        site.ask("/", method="POST"),
        site.ask("/", host="x"),
    ]
    for answer in asked:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


def test_without_the_token_nothing_is_told(locked: Served) -> None:
    wrong: list[dict[str, str]] = [
        {},
        {"Cookie": "teijo=wrong"},
        {"Cookie": "teijo=" + TOKEN[:-1]},
        {"Cookie": '"; teijo'},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
    ]
    for headers in wrong:
        for path in ("/", "/api/v1/runs", "/static/app.css", "/?token=wrong", "/?token=%ff"):
            answer = locked.ask(path, headers=headers)
            assert answer.status == 401
            assert "simulated" not in answer.text.lower()
    assert locked.ask(f"/?token={TOKEN}&token=x").status == 401, "two tokens are none"


def test_the_token_becomes_a_cookie_that_no_script_sees(locked: Served) -> None:
    answer = locked.ask(f"/?q=a+b&token={TOKEN}")
    assert (answer.status, answer.headers["location"]) == (303, "/?q=a+b")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert locked.ask("/", headers={"Cookie": cookie.partition(";")[0]}).status == 200
    assert locked.ask("/api/v1/runs", headers={"Authorization": f"Bearer {TOKEN}"}).status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "/%5Cevil.example/"])
def test_no_address_with_the_token_leads_elsewhere(locked: Served, path: str) -> None:
    location = locked.ask(f"{path}?token={TOKEN}").headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


def test_nothing_is_written_but_the_index(site: Served) -> None:
    site.runs()
    names = {path.name for path in site.serving.folder.iterdir()}
    assert names <= {"one.teijo", ".teijo-index.sqlite"}


def test_a_client_that_asks_without_end_waits_and_others_do_not() -> None:
    rates = Rates()
    taken = [rates.take("a", 0.0) for _ in range(int(BURST) + 5)]
    assert taken == [True] * int(BURST) + [False] * 5
    assert rates.take("b", 0.0)
    assert rates.take("a", 1.0)


def test_clients_without_end_take_no_memory_without_end() -> None:
    rates = Rates()
    for number in range(5_000):
        rates.take(str(number), 0.0)
    assert len(rates.buckets) <= 1_000
