"""Options and partitions of tables, as TiDB's parser restores them (ticdc#ddl-restored)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from generators.families.ticdc.ddl_columns import Columns, commented
from generators.families.ticdc.sql import number, plain_text, unquoted
from generators.sources.mysql import quote

_NUMBERS: Final = tuple(
    re.findall(
        r"\w+",
        "AVG_ROW_LENGTH CHECKSUM DELAY_KEY_WRITE KEY_BLOCK_SIZE MAX_ROWS MIN_ROWS NODEGROUP"
        " TABLE_CHECKSUM STATS_BUCKETS STATS_TOPN STATS_AUTO_RECALC STATS_SAMPLE_PAGES",
    )
)
"""Table options with a number."""
_COMMENTED: Final = {
    "AUTO_ID_CACHE": "[auto_id_cache]",
    "AUTO_RANDOM_BASE": "[auto_rand_base]",
    "SHARD_ROW_ID_BITS": "",
    "PRE_SPLIT_REGIONS": "",
}
"""Table options with a number that stand in a comment of TiDB."""
_FORMATS: Final = ("DEFAULT", "DYNAMIC", "FIXED", "COMPRESSED", "REDUNDANT", "COMPACT")
"""The values of the table option ROW_FORMAT."""


@dataclass(slots=True)
class Options(Columns):
    """Reads the options of tables and databases, and partitions."""

    def table_options(self) -> Iterator[str]:
        """Reads the options of a table, and yields each as TiDB prints it."""
        while not self.ended and self.next not in (";", "PARTITION"):
            yield from self.table_option()
            self.skip(",")

    def table_option(self) -> Iterator[str]:
        """Reads one option of a table, and yields it as TiDB prints it; nothing where TiCDC leaves
        it out. Raises Refused for an unknown one.
        """
        force = commented("[force_inc]", "FORCE") + " " if self.skip("FORCE") else ""
        if self.skip("DEFAULT") and self.next not in (
            "CHARACTER",
            "CHARSET",
            "CHAR",
            "COLLATE",
            "PLACEMENT",
        ):
            raise self.refusal()
        if word := self.option(*_NUMBERS):
            yield (
                f"{word} ="
                f" {'DEFAULT' if word.startswith('STATS') and self.skip('DEFAULT') else self.digits()}"
            )
        elif word := self.option(*_COMMENTED):
            yield force + commented(_COMMENTED[word], f"{word} = {self.digits()}")
        elif word := self.option("AUTO_INCREMENT"):
            yield f"{force}AUTO_INCREMENT = {self.digits()}"
        elif self.option("CHARACTER SET", "CHARSET", "CHAR SET"):
            yield f"DEFAULT CHARACTER SET = {self.charset()}"
        elif self.option("COLLATE"):
            yield f"DEFAULT COLLATE = {self.collation().upper()}"
        elif self.option("ENGINE"):
            token = self.take("word", "text", "name")
            yield (
                "ENGINE ="
                f" {(unquoted(token.text) if token.kind == 'text' else token.text.strip('`')) or plain_text('')}"
            )
        elif word := self.option(
            "COMMENT",
            "COMPRESSION",
            "CONNECTION",
            "PASSWORD",
            "ENCRYPTION",
            "DATA DIRECTORY",
            "INDEX DIRECTORY",
        ):
            yield f"{word} = {self.string_literal()}"
        elif word := self.option("PACK_KEYS", "STATS_PERSISTENT"):
            self.skip("DEFAULT") or self.digits()
            yield (
                f"{word} = DEFAULT /* TableOption{word.title().replace('_', '')} is not"
                " supported */ "
            )
        elif self.option("ROW_FORMAT"):
            yield f"ROW_FORMAT = {self.expect(*_FORMATS)}"
        elif self.option("TTL_ENABLE"):
            ttl_option = commented("[ttl]", f"TTL_ENABLE = {self.string_literal().upper()}")
            yield from () if self.ttl_off else (ttl_option,)
        elif self.option("TTL_JOB_INTERVAL"):
            yield commented("[ttl]", f"TTL_JOB_INTERVAL = {self.string_literal()}")
        elif self.option("TTL"):
            column = self.plain_name()
            self.expect("+")
            self.expect("INTERVAL")
            every = (
                number(self.take("number").text)
                if self.tokens[self.at].kind == "number"
                else self.expression()
            )
            yield commented("[ttl]", f"TTL = {column} + INTERVAL {every} {self.unit()}")
            if self.ttl_off:
                yield commented("[ttl]", "TTL_ENABLE = 'OFF'")
        elif self.option("AFFINITY"):
            yield commented("[affinity]", f"AFFINITY = {self.string_literal()}")
        elif self.option("PLACEMENT POLICY"):
            yield from self.placement_policy()
        else:
            raise self.refusal()

    def placement_policy(self) -> Iterator[str]:
        """Reads the name of a placement policy, and yields the option as TiDB prints it. Where
        TiCDC leaves it out, it yields "": the caller joins options with blanks, and the blank
        before this one stays.
        """
        token = self.take("word", "text", "name")
        name = unquoted(token.text) if token.kind == "text" else token.text.strip("`")
        yield (
            commented("[placement]", f"PLACEMENT POLICY = {quote(name)}") if self.placement else ""
        )

    def database_options(self) -> str:
        """Reads the options of a database, and returns them as TiDB prints them."""
        options = ""
        while not self.ended and not self.next_is(";"):
            self.skip("DEFAULT")
            if self.option("CHARACTER SET", "CHARSET", "CHAR SET"):
                options += f" CHARACTER SET = {self.charset().lower()}"
            elif self.option("COLLATE"):
                options += f" COLLATE = {self.collation()}"
            elif self.option("ENCRYPTION"):
                options += f" ENCRYPTION = {self.string_literal()}"
            elif self.option("PLACEMENT POLICY"):
                options += " " + "".join(self.placement_policy())
            elif self.next_is("SET", "TIFLASH"):
                options += f" {self.tiflash()}"
            else:
                raise self.refusal()
        return options

    def tiflash(self) -> str:
        """Reads a SET TIFLASH REPLICA clause, and returns it as TiDB prints it."""
        clause = f"{self.expect('SET TIFLASH REPLICA')} {self.digits()}"
        if self.skip("LOCATION LABELS"):
            clause += f" LOCATION LABELS {self.listed(self.string_literal, ', ')}"
        return clause

    def partitioning(self) -> str:
        """Reads PARTITION BY with the partitions behind it, and returns it as TiDB prints it. The
        statement keeps the method and the number of partitions. Where the partitions are listed,
        they are counted (`partition`), and PARTITIONS n is not printed; HASH and KEY without a list
        have n partitions, without n one. Refuses subpartitions.
        """
        self.expect("PARTITION BY")
        self.statement.method = self.method()
        clause = f"PARTITION BY {self.statement.method}"
        count = self.digits() if self.skip("PARTITIONS") else ""
        if self.skip("SUBPARTITION BY"):
            raise self.refusal()
        if self.next_is("("):
            clause += f" {self.bracketed(self.partition, ',')}"
        elif count or clause.startswith(
            ("PARTITION BY HASH", "PARTITION BY KEY", "PARTITION BY LINEAR")
        ):
            self.statement.partitions = int(count or 1)
            clause += f" PARTITIONS {count or 1}"
        if self.skip("UPDATE INDEXES"):
            clause += (
                " UPDATE INDEXES"
                f" {self.bracketed(lambda: f'{self.plain_name()} ' + self.expect('GLOBAL', 'LOCAL'), ',')}"
            )
        return clause

    def method(self) -> str:
        """Reads how a table is partitioned, such as `HASH (id)`, and returns it as TiDB prints it.
        Raises Refused for partitions of an INTERVAL.
        """
        linear = "LINEAR " if self.skip("LINEAR") else ""
        kind = self.expect("HASH", "KEY", "RANGE", "LIST")
        if kind in ("RANGE", "LIST") and self.skip("COLUMNS"):
            return f"{kind} COLUMNS {self.bracketed(self.name, ',')}"
        if kind == "KEY":
            if self.skip("ALGORITHM"):
                self.expect("=")
                kind += f" ALGORITHM = {self.digits()}"
            if self.next_is("(", ")"):
                self.at += 2
                return f"{linear}{kind} ()"
            return f"{linear}{kind} {self.bracketed(self.name, ',')}"
        clause = f"{linear}{kind} ({self.grouped()})"
        if self.next_is("INTERVAL"):
            raise self.refusal()
        return clause

    def partition(self) -> str:
        """Reads the definition of one partition, and returns it as TiDB prints it. The statement
        counts it (`partitions`) and keeps its VALUES as TiDB prints them (`values`); a partition
        that has none adds nothing there, DEFAULT in their place adds `(DEFAULT)`. Refuses subpartitions.
        """
        clause = f"{self.expect('PARTITION')} {self.plain_name()}"
        self.statement.partitions += 1
        if self.skip("VALUES LESS THAN"):
            values = "(MAXVALUE)" if self.skip("MAXVALUE") else self.bracketed(self.expression)
            self.statement.values.append(values)
            clause += f" VALUES LESS THAN {values}"
        elif self.skip("VALUES IN"):
            values = self.bracketed(self.member)
            self.statement.values.append(values)
            clause += " DEFAULT" if values == "(DEFAULT)" else f" VALUES IN {values}"
        elif self.skip("DEFAULT"):
            self.statement.values.append("(DEFAULT)")
            clause += " DEFAULT"
        for option in self.partition_options():
            clause += f" {option}"
        if self.next_is("("):
            raise self.refusal()
        return clause

    def member(self) -> str:
        """Reads one of the values of a partition by LIST, and returns it as TiDB prints it:
        DEFAULT, an expression, or several in brackets.
        """
        if self.skip("DEFAULT"):
            return "DEFAULT"
        return self.expression() if not self.next_is("(") else self.bracketed(self.expression)

    def partition_options(self) -> Iterator[str]:
        """Reads the options of a partition, and yields each as TiDB prints it."""
        while self.next not in (",", ")", "("):
            yield from self.table_option()
