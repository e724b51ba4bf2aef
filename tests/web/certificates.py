"""Certificates for tests, made by openssl."""

import shutil
import subprocess
from pathlib import Path

OPENSSL = shutil.which("openssl")


def made(folder: Path, name: str = "a", *, passphrase: str = "") -> tuple[Path, Path]:
    """Return a certificate for 127.0.0.1 that vouches for itself, and its key."""
    assert OPENSSL is not None
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    lock = ["-passout", f"pass:{passphrase}"] if passphrase else ["-nodes"]
    subprocess.run(
        [
            OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            *lock, "-days", "2", "-subj", "/CN=teijo test",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key
