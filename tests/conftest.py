"""What every test runs under: hypothesis without chance or clock, Ctrl-C, and skips that count."""

import os
import signal
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine; a slow one is not a failure. hypothesis picks `ci` by itself
# where it sees a CI, so both names mean the same.
for _profile in ("trellis", "ci"):
    settings.register_profile(
        _profile, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("trellis")

# A shell starts what runs in its background deaf to Ctrl-C; what tests start would be deaf too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_FAIL_ON_SKIP = os.environ.get("TRELLIS_FAIL_ON_SKIP", "") not in ("", "0")
_MARKED = {Path(__file__).parent / name: name for name in ("system", "train")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all of tests/system and tests/train, so that `-m "not system"` leaves one out."""
    names = Counter(item.nodeid for item in items)
    if same := [name for name, tests in names.items() if tests > 1]:
        raise pytest.UsageError(f"pytest-xdist runs one of several tests of one name: {same}")
    for item in items:
        for folder, mark in _MARKED.items():
            if item.path.is_relative_to(folder):
                item.add_marker(mark)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test where skips are failures; an expected failure stays one."""
    report = yield
    if not hasattr(report, "wasxfail"):
        _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that is skipped as a whole, in the same way."""
    report = yield
    _fail_if_skipped(report)
    return report


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if _FAIL_ON_SKIP and report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, a failure here: {reason}"
