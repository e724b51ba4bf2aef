"""A server with a certificate: what it speaks, whom it trusts, and certificates that are none."""

import shutil
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.web.connection import Limits
from teijo.web.serving import serving_of
from teijo.web.tls import context_of
from tests.web.certificates import OPENSSL, made
from tests.web.serving import Served, served

pytestmark = pytest.mark.skipif(OPENSSL is None, reason="no openssl on this machine")
TOKEN = "a-token-of-24-characters"


@pytest.fixture(scope="module")
def site(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("secured")
    shutil.copy(simulated, folder / "one.teijo")
    certificate, key = made(tmp_path_factory.mktemp("keys"))
    with served(folder, TOKEN, certificate=certificate, key=key) as found:
        yield found


def shaken(site: Served, *, most: ssl.TLSVersion | None = None) -> ssl.SSLSocket:
    """Return a connection whose handshake is over."""
    trusting = ssl.create_default_context(cafile=str(site.serving.certificate))
    if most is not None:
        trusting.maximum_version = most
    plain = socket.create_connection(("127.0.0.1", site.port), timeout=60)
    return trusting.wrap_socket(plain, server_hostname="127.0.0.1")


def test_its_address_is_https_and_its_cookie_goes_nowhere_else(site: Served) -> None:
    assert site.serving.address == f"https://127.0.0.1:{site.port}/?token={TOKEN}"
    cookie = site.ask(f"/?token={TOKEN}").headers["set-cookie"]
    assert "; Secure" in cookie
    answer = site.ask("/api/v1/runs", headers={"Cookie": cookie.partition(";")[0]})
    assert answer.status == 200
    assert "strict-transport-security" not in answer.headers


def test_a_page_of_the_other_scheme_is_a_foreign_one(site: Served, tmp_path: Path) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    assert site.ask("/", headers=known | {"Origin": f"https://{site.host}"}).status == 200
    assert site.ask("/", headers=known | {"Origin": f"http://{site.host}"}).status == 403
    with served(tmp_path) as plain:
        assert plain.ask("/", headers={"Origin": f"https://{plain.host}"}).status == 403


def test_it_speaks_tls_1_2_too(site: Served) -> None:
    with shaken(site, most=ssl.TLSVersion.TLSv1_2) as connection:
        assert connection.version() == "TLSv1.2"


def test_the_port_that_a_browser_leaves_out_is_that_of_its_scheme(tmp_path: Path) -> None:
    assert serving_of(tmp_path).usual_port == 80
    assert serving_of(tmp_path, certificate=tmp_path / "a").usual_port == 443


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00"])
def test_a_handshake_that_does_not_come_is_not_waited_for(tmp_path: Path, sent: bytes) -> None:
    certificate, key = made(tmp_path)
    limits = Limits(head_s=0.3)
    with served(tmp_path, certificate=certificate, key=key, limits=limits) as site:
        with socket.create_connection(("127.0.0.1", site.port), timeout=60) as client:
            client.sendall(sent)
            while client.recv(1000):
                pass
        with shaken(site) as client:
            assert client.recv(1) == b"", "nor a head behind it"
        assert site.ask("/").status == 200


def refused(certificate: Path, key: Path | None) -> UsageError:
    with pytest.raises(UsageError) as told:
        context_of(certificate, key)
    assert told.value.remedy
    return told.value


def test_what_is_no_certificate_or_not_its_key_is_told(tmp_path: Path) -> None:
    certificate, key = made(tmp_path)
    other, other_key = made(tmp_path, "b")
    text, damaged = tmp_path / "text.pem", tmp_path / "damaged.pem"
    text.write_text("no certificate")
    damaged.write_text(certificate.read_text().replace("M", "N"))
    both = tmp_path / "both.pem"
    both.write_text(certificate.read_text() + key.read_text())
    told = {
        "cannot be read: No such file": (tmp_path / "nothing", key),
        "is no regular file": (tmp_path, key),
        "there is no certificate in it": (text, key),
        "pem: there is no private key in it": (certificate, None),
        "text.pem: there is no private key in it": (certificate, text),
        f"is not that of the certificate {certificate}": (certificate, other_key),
        "cannot be used": (damaged, key),
    }
    for words, (one, its) in told.items():
        assert words in refused(one, its).message
    assert context_of(both, None).minimum_version is ssl.TLSVersion.TLSv1_2
    assert context_of(other, other_key)


def test_nobody_is_asked_for_a_passphrase(tmp_path: Path) -> None:
    certificate, key = made(tmp_path, passphrase="secret words")
    assert "locked with a passphrase" in refused(certificate, key).message


def test_a_key_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a key alone"):
        serving_of(tmp_path, key=tmp_path / "a.key")
