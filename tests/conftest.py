"""What every test may lean on. A skip is a failure where CI or TEIJO_NO_SKIPS is set."""

import os
from collections.abc import Generator

import pytest

NO_SKIPS = os.environ.get("CI", "").lower() in {"1", "true"} or "TEIJO_NO_SKIPS" in os.environ


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure with its reason: a check that did not run proves nothing."""
    report = yield
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"a skip is a failure here: {reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a module that skips itself."""
    report = yield
    if NO_SKIPS and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"a skip is a failure here: {reason(report.longrepr)}"
    return report


def reason(longrepr: object) -> str:
    """Return why a test skipped itself."""
    return str(longrepr[2] if isinstance(longrepr, tuple) else longrepr)
