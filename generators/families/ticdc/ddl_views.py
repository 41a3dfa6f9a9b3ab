"""The SELECT of a view, as TiDB's parser restores it (ticdc#ddl-restored)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from generators.families.ticdc.ddl_tables import Options
from generators.families.ticdc.sql import unquoted
from generators.sources.mysql import quote

_NO_ALIAS: Final = frozenset(
    re.findall(
        r"\w+",
        "FROM WHERE GROUP HAVING ORDER LIMIT UNION EXCEPT INTERSECT WITH INTO FOR LOCK WINDOW OVER"
        " JOIN INNER LEFT RIGHT CROSS NATURAL STRAIGHT_JOIN ON USING USE FORCE IGNORE PARTITION"
        " TABLESAMPLE FETCH",
    )
)
"""Words that cannot be an alias without AS, because they begin what comes next in a SELECT."""
_SELECT_OPTIONS: Final = frozenset(
    re.findall(
        r"\w+",
        "ALL DISTINCTROW HIGH_PRIORITY STRAIGHT_JOIN SQL_SMALL_RESULT SQL_BIG_RESULT"
        " SQL_BUFFER_RESULT SQL_CACHE SQL_NO_CACHE SQL_CALC_FOUND_ROWS",
    )
)
"""Words between SELECT and its first column whose form in TiDB is not known here."""
_JOINS: Final = {
    **dict.fromkeys(("JOIN", "INNER JOIN", "CROSS JOIN"), " JOIN "),
    **dict.fromkeys(("LEFT JOIN", "LEFT OUTER JOIN"), " LEFT JOIN "),
    **dict.fromkeys(("RIGHT JOIN", "RIGHT OUTER JOIN"), " RIGHT JOIN "),
}
"""What TiDB prints for the words of a join."""


class TableSource(NamedTuple):
    """One table of a SELECT or several joined ones, as TiDB prints them. `joined` says that it is a
    join of two, which TiDB puts into brackets before a further one; `derived` says that it is a
    SELECT in brackets.
    """

    text: str
    joined: bool = False
    derived: bool = False


@dataclass(slots=True)
class Selects(Options):
    """Reads the SELECT of a view. Each method reads a part of it, and returns it as TiDB prints it.
    What is not known here, such as a window function or a UNION with brackets, raises Refused, here
    or in the caller that finds it unread.
    """

    def query(self) -> str:
        """Reads a SELECT, or several between which UNION stands."""
        statement = self.select()
        while self.skip("UNION"):
            union = "UNION ALL" if self.either("ALL", "DISTINCT") == "ALL" else "UNION"
            statement += f" {union} {self.select()}"
        return statement

    def select(self) -> str:
        """Reads one SELECT with its clauses from FROM to LIMIT. One without tables has FROM DUAL in
        TiDB's form if it has WHERE, and else no FROM.
        """
        statement = self.expect("SELECT") + (" DISTINCT" if self.skip("DISTINCT") else "")
        if self.next in _SELECT_OPTIONS:
            raise self.refusal()
        statement += " " + self.listed(self.selected, ",")
        has_tables = self.skip("FROM") and not self.skip("DUAL")
        if has_tables:
            statement += f" FROM {self.sources()}"
        if self.skip("WHERE"):
            statement += f"{'' if has_tables else ' FROM DUAL'} WHERE {self.expression()}"
        if self.skip("GROUP BY"):
            statement += f" GROUP BY {self.listed(self.by_item, ',')}"
        if self.skip("HAVING"):
            statement += f" HAVING {self.expression()}"
        if self.skip("ORDER BY"):
            statement += f" ORDER BY {self.listed(self.by_item, ',')}"
        if self.skip("LIMIT"):
            first = self.digits()
            if self.skip(","):
                return f"{statement} LIMIT {first},{self.digits()}"
            statement += f" LIMIT {f'{self.digits()},' if self.skip('OFFSET') else ''}{first}"
        return statement

    def by_item(self) -> str:
        """Reads one item of GROUP BY or ORDER BY."""
        return self.expression() + (" DESC" if self.either("ASC", "DESC") == "DESC" else "")

    def selected(self) -> str:
        """Reads one column of a SELECT with its alias, or `*`, of one table or of all."""
        if self.skip("*"):
            return "*"
        following = [token.text for token in self.tokens[self.at + 1 : self.at + 3]]
        if following == [".", "*"]:
            table = self.plain_name()
            self.at += 2
            return f"{table}.*"
        return self.expression() + self.alias()

    def alias(self) -> str:
        """Reads an alias, with AS or without, and returns it behind AS with a blank in front; ""
        if none follows.
        """
        if self.skip("AS"):
            return f" AS {self.alias_name()}"
        if self.ended:
            return ""
        token = self.tokens[self.at]
        has_alias = token.kind in ("name", "text") or (
            token.kind == "word" and token.upper not in _NO_ALIAS
        )
        return f" AS {self.alias_name()}" if has_alias else ""

    def alias_name(self) -> str:
        """Reads the name of an alias, which may be a text, and returns it in back quotes."""
        if not self.ended and self.tokens[self.at].kind == "text":
            return quote(unquoted(self.take().text))
        return self.plain_name()

    def sources(self) -> str:
        """Reads the tables behind FROM. A table before a comma is a join of its own to TiDB, which
        stands in brackets. A SELECT in brackets before the first comma keeps the comma. Raises
        Refused for a join behind a comma.
        """
        source = self.joined_source()
        while self.skip(","):
            following = self.joined_source()
            if following.joined:
                raise self.refusal()
            separator = ", " if source.derived else " JOIN "
            left_source = source.text if source.derived else f"({source.text})"
            source = TableSource(f"{left_source}{separator}{following.text}", joined=True)
        return source.text

    def joined_source(self) -> TableSource:
        """Reads a table and those that are joined to it by JOIN, each with ON or USING. Raises
        Refused for a join without them before another one, whose brackets are not known here.
        """
        source = self.source()
        while words := self.either(*_JOINS):
            left_source = f"({source.text})" if source.joined else source.text
            join = f"{left_source}{_JOINS[words]}{self.source().text}"
            if self.skip("ON"):
                join += f" ON {self.expression()}"
            elif self.skip("USING"):
                join += f" USING {self.bracketed(self.name, ',')}"
            elif words.startswith(("LEFT", "RIGHT")) or any(map(self.begins_with, _JOINS)):
                raise self.refusal()
            source = TableSource(join, joined=True)
        return source

    def begins_with(self, words: str) -> bool:
        """Whether these words come next; they are not read yet."""
        return self.next_is(*words.split())

    def source(self) -> TableSource:
        """Reads one table, or a SELECT in brackets, with its alias. Raises Refused for a join in
        brackets.
        """
        if not self.skip("("):
            return TableSource(self.table() + self.alias())
        if not self.next_is("SELECT"):
            raise self.refusal()
        query = self.query()
        self.expect(")")
        return TableSource(f"({query}){self.alias()}", derived=True)
