"""The daemon that forks Spark's Python workers on this machine: Spark's own, with PySpark from
where it is installed.

Spark puts PySpark as an archive, and a jar of its own, before all else on the workers' path. Python
compiles an archive's modules at each start, and Python 3.11 lists the contents of every archive
again before each task. Workers start in the user's directory, whose folders may hide our packages:
so this module stands alone, on the standard library.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import PurePath
from runpy import run_module
from typing import Final

_ARCHIVES: Final = re.compile(r"pyspark\.zip|py4j-.+-src\.zip|spark-core_.+\.jar")


def leave_out_archives() -> None:
    """Takes Spark's archives off the path, unless PySpark is installed nowhere else."""
    path = list(sys.path)
    archives = [place for place in path if _ARCHIVES.fullmatch(PurePath(place).name)]
    sys.path[:] = [place for place in path if place not in archives]
    if find_spec("pyspark") and find_spec("py4j"):
        for place in archives:
            sys.path_importer_cache.pop(place, None)
    else:
        sys.path[:] = path


if __name__ == "__main__":
    leave_out_archives()
    run_module("pyspark.daemon", run_name="__main__")
