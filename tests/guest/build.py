"""The guest that the tests boot, built of Debian packages: `make vm`.

It is built beside and renamed when it is whole, so an interrupted build is begun anew. Its folder
is named after the recipe (RECIPE, the lock of the Python packages, the Python), so what was built
by another recipe is never booted. After it no network is needed. Nothing is installed on the host:
packages are unpacked, and their scripts do not run.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.guest import initrd

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "linux-image-amd64", "libc-bin", "busybox-static", "bash", "dash", "coreutils", "sed", "grep",
    "findutils", "procps", "mawk", "util-linux", "mount", "fdisk", "kmod", "udev", "iproute2",
    "e2fsprogs", "python3", "nvme-cli", "hdparm", "smartmontools", "sg3-utils", "sdparm", "dmsetup",
    "tzdata", "nfs-kernel-server",
)  # fmt: skip
"""What the guest consists of; apt adds what they need."""
DRIVERS = "lib/modules/*/kernel/drivers"
NO_USE = (
    *(f"usr/share/{name}" for name in ("doc", "man", "locale", "perl")),
    "usr/lib/x86_64-linux-gnu/perl",
    "lib/modules/*/kernel/sound",
    *(f"{DRIVERS}/{name}" for name in ("gpu", "media", "infiniband", "staging")),
    *(f"{DRIVERS}/net/{name}" for name in ("wireless", "ethernet")),
)
"""Folders of the packages that no test reads."""
EXTRAS = frozenset({"", "parquet"})
"""Of Teijo's own optional packages, what the guest has."""
RECIPE = ("build.py", "initrd.py", "start.sh")


class Unbuilt(Exception):
    """The guest cannot be built, or is not built yet; says why and what to do."""


def home() -> Path:
    """Return where guests are kept: TEIJO_GUEST, so that several folders may share one."""
    return Path(os.environ.get("TEIJO_GUEST") or ROOT / "target" / "guest")


def built() -> Path:
    """Return the folder of the finished guest; raises Unbuilt."""
    found = home() / stamp()
    if not (found / "root.img").exists():
        raise Unbuilt("there is no guest of this recipe: make vm")
    return found


def stamp() -> str:
    """Return the recipe's name: a digest of all that the image depends on."""
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for path in (*(Path(__file__).parent / name for name in RECIPE), ROOT / "requirements.lock"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> int:
    """Build the guest, unless it is there."""
    home().mkdir(parents=True, exist_ok=True)
    with (home() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            place = built()
        except Unbuilt:
            try:
                place = build()
            except (Unbuilt, OSError, subprocess.CalledProcessError) as why:
                print(f"error: the guest was not built: {said(why)}", file=sys.stderr)
                return 1
    print(f"guest: {place}")
    return 0


def said(why: Exception) -> str:
    """Return what a failed program printed beside its exit code."""
    printed = getattr(why, "stderr", None) or ""
    return f"{why}\n{printed.strip()[-2000:]}".strip()


def build() -> Path:
    """Make the image in a folder of its own, and give it its name when it is whole."""
    for program in ("apt-get", "dpkg-deb", "tar", "mke2fs", "depmod"):
        if shutil.which(program, path=SEARCH) is None:
            raise Unbuilt(f"needs the program {program} of Debian")
    making = home() / f"making-{os.getpid()}"
    for stale in home().glob("making-*"):
        shutil.rmtree(stale)
    tree = making / "tree"
    tree.mkdir(parents=True)
    print("== guest: Debian packages")
    unpack(download(), tree)
    check_python(tree)
    print("== guest: Python packages")
    copy_python(tree / "opt/teijo")
    library = f"usr/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    compile_python(tree / library, f"/{library}")
    settle(tree)
    print("== guest: disk")
    kernel = next((tree / "boot").glob("vmlinuz-*"))
    version = kernel.name.removeprefix("vmlinuz-")
    call("depmod", "--basedir", str(tree), version)
    (making / "kernel").write_bytes(initrd.uncompressed_kernel(kernel.read_bytes()))
    (making / "initrd").write_bytes(initrd.archive(tree, version))
    shutil.rmtree(tree / "boot")
    make_disk(tree, making / "root.img", spare_mib=16)
    shutil.rmtree(tree)
    final = home() / stamp()
    shutil.rmtree(final, ignore_errors=True)
    making.rename(final)
    for other in home().iterdir():
        if other.is_dir() and other.name not in {final.name, "apt"}:
            shutil.rmtree(other)
    return final


SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def call(*command: str) -> str:
    """Run a program of the host; raises CalledProcessError with what it printed."""
    environment = {**os.environ, "PATH": SEARCH, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def download() -> list[Path]:
    """Fetch the packages and all they need, as if nothing were installed; apt checks signatures.

    The lists of packages and the packages stay in a folder of ours, and dpkg is out of reach: the
    host's own state is neither read nor changed.
    """
    apt = home() / "apt"
    for name in ("lists/partial", "packages/partial", "cache"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "status").write_text("")
    options = {
        "Dir::State": apt, "Dir::State::lists": apt / "lists", "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache", "Dir::Cache::archives": apt / "packages",
        "Dir::Log": apt, "Dir::Bin::dpkg": "/bin/false", "APT::Sandbox::User": "",
        "APT::Architectures": "amd64", "APT::Install-Recommends": "false", "Acquire::Retries": "3",
        "APT::Get::Download-Only": "true", "Debug::NoLocking": "true",
    }  # fmt: skip
    words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    call("apt-get", *words, "-qq", "update")
    # Of what lies there already apt tells no address, so it is asked with an empty folder.
    nowhere = ("-o", f"Dir::Cache::archives={apt / 'cache'}")
    asked = ("-qq", "--yes", "--print-uris", "install", *PACKAGES)
    listed = call("apt-get", *words, *nowhere, *asked)
    wanted = [line.split()[1] for line in listed.splitlines() if line.startswith("'")]
    call("apt-get", *words, "-qq", "--yes", "--download-only", "install", *PACKAGES)
    found = {path.name for path in (apt / "packages").glob("*.deb")}
    for old in found - set(wanted):
        (apt / "packages" / old).unlink()
    return [apt / "packages" / name for name in wanted]


def unpack(packages: list[Path], tree: Path) -> None:
    """Unpack the packages over each other into a tree where /bin is /usr/bin, as Debian's is."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (tree / "usr" / name).mkdir(parents=True)
        (tree / name).symlink_to(f"usr/{name}")
    left_out = [f"--exclude=./{path}" for path in NO_USE]
    for package in packages:
        archive = subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE
        )
        command = ["tar", "-x", "--keep-directory-symlink", "-C", str(tree), *left_out]
        subprocess.run(command, stdin=archive.stdout, capture_output=True, text=True, check=True)
        if archive.wait():
            raise Unbuilt(f"{package.name} cannot be unpacked")


def check_python(tree: Path) -> None:
    """Hold the guest's Python against ours, whose packages it is to load."""
    ours = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not (tree / "usr/bin" / ours).exists():
        raise Unbuilt(f"this environment is of {ours}, and this Debian has another Python")


def copy_python(place: Path) -> None:
    """Copy the packages that Teijo needs to run, without those that only build and test it."""
    for one in needed("teijo"):
        for path in one.files or ():
            source = Path(str(one.locate_file(path)))
            if ".." in path.parts or not source.is_file() or path.suffix in {".pth", ".pyc"}:
                continue
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    compile_python(place, "/opt/teijo")


def compile_python(folder: Path, seen_as: str) -> None:
    """Leave byte code beside each source of a folder, which the guest sees at another place.

    The scripts of Debian's packages would have done so for Python's own library; without it each
    start in the guest compiles that anew, which takes longer than all else.
    """
    # Not looked at again: the guest never changes a source, and a look costs it a system call.
    words = ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash")
    call(sys.executable, *words, "-s", str(folder), "-p", seen_as, str(folder))


def needed(name: str, seen: set[str] | None = None) -> Iterator[Distribution]:
    """Yield an installed package and those it needs."""
    seen = set() if seen is None else seen
    if name in seen:
        return
    seen.add(name)
    try:
        found = distribution(name)
    except PackageNotFoundError as missing:
        raise Unbuilt(f"the environment lacks {name}: make build") from missing
    yield found
    for line in found.requires or ():
        wanted = Requirement(line)
        extras = EXTRAS if name == "teijo" else frozenset({""})
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": e}) for e in extras):
            yield from needed(wanted.name, seen)


def settle(tree: Path) -> None:
    """Write the few files that the scripts of the packages would have made."""
    etc = tree / "etc"
    (etc / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (etc / "group").write_text("root:x:0:\ndisk:x:6:\nkvm:x:106:\nrender:x:107:\n")
    (etc / "hostname").write_text("guest\n")
    (etc / "hosts").write_text("127.0.0.1 localhost guest\n")
    (etc / "nvme").mkdir(exist_ok=True)
    identity = "6b3ad000-0000-4000-8000-000000000014"
    (etc / "nvme/hostnqn").write_text(f"nqn.2014-08.org.nvmexpress:uuid:{identity}\n")
    (etc / "nvme/hostid").write_text(f"{identity}\n")
    for name in ("proc", "sys", "dev", "run", "tmp", "root", "mnt", "teijo", "var/lib"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for link, to in (("bin/sh", "dash"), ("usr/bin/awk", "mawk")):
        if not (tree / link).exists():
            (tree / link).symlink_to(to)
    start = tree / "sbin/start"
    shutil.copy(Path(__file__).with_name("start.sh"), start)
    start.chmod(0o755)
    program = tree / "usr/bin/teijo"
    program.write_text("#!/usr/bin/python3\nfrom teijo.cli import program\n\nprogram()\n")
    program.chmod(0o755)


def make_disk(tree: Path, disk: Path, *, spare_mib: int) -> None:
    """Make an ext4 image of a folder, with so many MiB to spare."""
    sizes = (path.lstat() for path in tree.rglob("*"))
    blocks = sum(-(-stat.st_size // 4096) + 1 for stat in sizes)
    size_mib = blocks * 4096 * 21 // 20 // 2**20 + spare_mib
    disk.unlink(missing_ok=True)
    call(
        "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-N", str(blocks),
        "-E", "root_owner=0:0", "-d", str(tree), str(disk), f"{size_mib}M",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
