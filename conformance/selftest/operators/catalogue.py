"""Every operator without arguments, by name."""

from __future__ import annotations

from typing import Final

from conformance.selftest.operators.cells import CELLS
from conformance.selftest.operators.misread import MISREAD
from conformance.selftest.operators.rows import ROWS

OPERATORS: Final = {operator.name: operator for operator in (*CELLS, *ROWS, *MISREAD)}
"""The catalogue."""
