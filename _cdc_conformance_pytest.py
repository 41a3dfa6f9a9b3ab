"""The module that pytest and the console script load first: standard library only; our packages are
imported on demand.

pytest imports this module in every project of an environment with cdc-conformance, even if the
project does not use it. So it only declares options and markers; `conformance.pytest_plugin` is
imported once a class with `__cdc_suite__` is collected.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    import pytest

BUDGETS = ("smoke", "ci", "nightly")
MARKERS = (
    "cdc: a case of the conformance suite",
    "cdc_kafka: a conformance item that goes through a Kafka broker",
    "cdc_spark: a conformance item that starts Spark",
)
PACKAGES = ("generators", "conformance", "spark_checks")


def _shadow() -> ModuleType:
    """`conformance.shadow`, loaded by path, because the package may be hidden."""
    path = Path(__file__).resolve().parent / "conformance" / "shadow.py"
    spec = importlib.util.spec_from_file_location("_cdc_conformance_shadow", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """The console script: the command line, unless one of the packages is hidden (exit 2, naming
    the path).
    """
    shadow = _shadow()
    paths = shadow.shadows()
    if paths:
        sys.stderr.write(f"cdc-conformance: {shadow.explain(paths)}\n")
        raise SystemExit(shadow.Shadowed.exit_code)
    from conformance.commands.cli import main as command

    command()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The suite's options. A class attribute of the same meaning overrides its option."""
    group = parser.getgroup("cdc-conformance", "CDC decoder conformance")
    file = "default: the configuration file's, else"
    group.addoption(
        "--cdc-budget", choices=BUDGETS, default=None, help=f"number of drawn cases ({file} smoke)"
    )
    group.addoption(
        "--cdc-seed",
        type=int,
        default=None,
        metavar="N",
        help=f"the seed of drawn cases ({file} 1)",
    )
    group.addoption(
        "--cdc-broker",
        default=None,
        metavar="BROKER",
        help=(
            f"auto, embedded, container, HOST:PORT, or none: records reach Spark as a table ({file}"
            " none)"
        ),
    )
    group.addoption(
        "--cdc-broker-config",
        default=None,
        metavar="FILE",
        help=(
            "the Kafka client's properties in librdkafka's names: TLS, SASL (default: the"
            " configuration file's)"
        ),
    )
    group.addoption(
        "--cdc-master",
        default=None,
        metavar="URL",
        help=f"the Spark cluster: spark://HOST:PORT ({file} none)",
    )
    group.addoption(
        "--cdc-remote",
        default=None,
        metavar="URL",
        help=f"a server of Spark Connect: sc://HOST:PORT ({file} none)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declares the markers, so that --strict-markers accepts them."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def _suite(node: Any) -> Any:
    """The class of `node`, if it is a conformance suite."""
    cls = getattr(node, "cls", None)
    return cls if cls is not None and getattr(cls, "__cdc_suite__", False) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Lets a suite parametrise its own items: `cls.cdc_generate_tests(metafunc)`."""
    cls = _suite(metafunc)
    if cls is not None:
        cls.cdc_generate_tests(metafunc)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the suites' items. With suites, the configuration file sets the options that are not
    given.
    """
    suites = [item for item in items if _suite(item) is not None]
    for item in suites:
        item.add_marker("cdc")
    if suites:
        _read_file(config)


def _read_file(config: pytest.Config) -> None:
    import pytest

    from conformance.commands.cli import cli
    from conformance.commands.config import pytest_defaults
    from generators.errors import UsageError

    try:
        defaults = pytest_defaults(config.rootpath, cli)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    for name, value in defaults.items():
        option = f"cdc_{name.replace('-', '_')}"
        if getattr(config.option, option, None) is None:
            setattr(config.option, option, value)


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """The suites' header lines, `cls.cdc_report_header(config)`; none without suites."""
    suites = {cls: None for cls in map(_suite, items) if cls is not None}
    return [f"cdc-conformance: {cls.cdc_report_header(config)}" for cls in suites]


def pytest_exception_interact(call: pytest.CallInfo[Any], report: Any) -> None:
    """Explains a failed import of ours if a folder of the user hides the package."""
    error = call.excinfo.value if call.excinfo is not None else None
    # pytest wraps the import error of a test module and keeps the cause.
    while error is not None and not isinstance(error, ImportError):
        error = error.__cause__ or error.__context__
    if error is None or (error.name or "").partition(".")[0] not in PACKAGES:
        return
    shadow = _shadow()
    paths = shadow.shadows()
    if paths:
        report.sections.append(("cdc-conformance", shadow.explain(paths)))
