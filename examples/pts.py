"""Every test of the PTS on the simulated drives, with every report in both languages.

Run by `make examples`. Each drive is one campaign (`pts.all`), so one run file; its tests are
printed one by one and together. It only calls the program, as anybody would.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DRIVES = ("mlc-a", "mlc-b", "slc-a")
LANGUAGES = ("en", "ja")
SPEC = "2.0.2-enterprise"
PROGRAM = Path(sys.executable).with_name("teijo")


def teijo(*arguments: str) -> list[str]:
    """Run the program, return what it printed; its talk is shown only if it fails."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"teijo {' '.join(arguments)}\n{done.stderr}")
    return done.stdout.split()


def measure(drive: str, folder: Path, tests: str) -> Path:
    """Run a drive's campaign, unless its file is there already."""
    path = folder / f"{drive}.teijo"
    if not path.exists():
        settings = ("--set", f"tests={tests}") if tests else ()
        teijo(
            "run", "pts.all", f"sim:{drive}", "--spec", SPEC, "--seed", "1", *settings,
            "--report", "none", "--progress", "plain", "-o", str(path),
        )  # fmt: skip
    return path


def report(path: Path, language: str, each: str) -> list[str]:
    """Print one run file in one language: together, or test by test."""
    return teijo("report", str(path), "--lang", language, *([each] if each else []))


def compare(paths: list[Path], language: str) -> list[str]:
    """Print the comparison of the drives in one language."""
    return teijo(
        "compare", *map(str, paths), "--lang", language, "-o", str(paths[0].parent / "compared")
    )


def main() -> None:
    """Measure, print, and name every page that was printed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path, help="where run files and reports go")
    options.add_argument("--drives", default=",".join(DRIVES), help="which simulated drives")
    options.add_argument("--languages", default=",".join(LANGUAGES), help="of the reports")
    options.add_argument("--tests", default="", help="which tests of the campaign [all]")
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    drives, languages = given.drives.split(","), given.languages.split(",")
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count() or 1) as crew:
        runs = [crew.submit(measure, drive, given.folder, given.tests) for drive in drives]
        paths = [run.result() for run in runs]
        print(f"{len(paths)} campaigns after {time.monotonic() - began:.0f} s", file=sys.stderr)
        pages = [
            crew.submit(report, path, language, each)
            for path in paths
            for language in languages
            for each in ("", "--each")
        ]
        if len(paths) > 1:
            pages += [crew.submit(compare, paths, language) for language in languages]
        for page in pages:
            print(*page.result(), sep="\n")
    print(f"done after {time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
