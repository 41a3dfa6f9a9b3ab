"""The statements that a server refuses are told by their index."""

from __future__ import annotations

import sys

from recorders.databases import Database


class _Refusing(Database):
    """A client that refuses each line with `bad` in it, and names the line."""

    def _open(self) -> None:
        raise AssertionError

    def client(self) -> list[str]:
        told = "[print(n, file=sys.stderr) for n, line in enumerate(sys.stdin, 1) if 'bad' in line]"
        return [sys.executable, "-c", f"import sys; {told}"]

    def refused(self, line: str) -> tuple[int, str] | None:
        return int(line), "refused"


def test_a_name_with_an_end_of_a_line_in_it_moves_no_error_to_another_statement() -> None:
    statements = ("CREATE TABLE `a\nb` (x int)", "SELECT bad", "SELECT 1", "SELECT `\n\nbad`", "SELECT 2")
    assert set(_Refusing(print, {}).run(statements)) == {1, 3}
