"""Says by path when a folder or file of the user's hides one of our packages.

A folder `generators/` in the working directory wins over the installed package under `python -m`,
`PYTHONPATH=.` or pytest's default import mode, and the import errors that follow name neither. This
module imports only the standard library and can be loaded by path, so that it works whichever of
the three packages is hidden.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path

PACKAGES = ("generators", "conformance", "spark_checks")
"""Our packages that a file of the user's may hide."""
HOME = Path(__file__).resolve().parent.parent
"""The folder in which our packages are installed."""


class Shadowed(ImportError):
    """One of our packages is hidden by a file or folder of the user's. `exit_code` is that of the
    command.
    """

    exit_code = 2


def shadows() -> dict[str, Path]:
    """For each of our packages that something of the user's hides, or will hide once it is
    imported, the path of that; {} if nothing is hidden.
    """
    paths = {}
    for name in PACKAGES:
        loaded = sys.modules.get(name)
        spec = loaded.__spec__ if loaded is not None else PathFinder.find_spec(name)
        if spec is None:
            continue
        # A folder without __init__.py has no origin, and is found only if there is no package with
        # one. Of a package with __init__.py the path is its folder.
        where = (
            Path(spec.origin)
            if spec.origin
            else Path(next(iter(spec.submodule_search_locations or ()), name))
        )
        where = (where.parent if where.name == "__init__.py" else where).resolve()
        if where != HOME / name:
            paths[name] = where
    return paths


def explain(paths: dict[str, Path]) -> str:
    """The error message that names the paths which hide our packages, and says what to do."""
    listed = "; ".join(f"{path} hides the package {name!r}" for name, path in paths.items())
    return (
        f"{listed} that cdc-conformance installed in {HOME}. Rename it, or keep its folder off"
        " sys.path: run the command `cdc-conformance` instead of `python -m`, unset PYTHONPATH,"
        " and use pytest's --import-mode=importlib."
    )


def check_shadowing() -> None:
    """Raises Shadowed, naming the paths, when one of our packages is hidden."""
    paths = shadows()
    if paths:
        raise Shadowed(explain(paths))
