"""A user's tables, from files of DDL and from databases."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from generators.errors import UnknownName, UsageError
from generators.tables import live
from generators.tables.ddl import DdlReader
from generators.tables.ddl_oracle import OracleReader
from generators.tables.ddl_text import Script
from generators.tables.ddl_tsql import TsqlReader
from generators.tables.schema import DIALECTS, Schema

DATABASE: Final = "app"
"""The database of tables for which neither the caller nor the DDL names one."""

_READERS: Final[Mapping[str, type[DdlReader]]] = {
    "mysql": DdlReader,
    "postgresql": DdlReader,
    "sqlserver": TsqlReader,
    "oracle": OracleReader,
}
"""What reads the DDL of each source."""

_HEADERS: Final[Mapping[str, str]] = {
    "postgresql": r"^-- PostgreSQL database dump",
    "tidb": r"^-- Server version[:\s].*-TiDB-",
    "mariadb": r"^-- MariaDB dump|^/\*M!|^-- (?:Server version|MySQL dump)[:\s].*-MariaDB",
    "mysql": r"^-- Server version:?\s+\d",
}
"""What tells a dialect in the comments at the beginning of a dump, the most special dialect first.
"""
_MARKS: Final[Mapping[str, str]] = {
    "sqlserver": (
        r"^\s*GO\s*$|\[dbo\]|\bdbo\.|\bIDENTITY\s*\(\s*\d+\s*,\s*\d+\s*\)|\[\w+\]\s+\[\w+\]"
        r"|\bntext\b|\bdatetime2\b|\bdatetimeoffset\b|\buniqueidentifier\b|\bsmallmoney\b"
        r"|\(\s*max\s*\)"
    ),
    "oracle": (
        r"\bN?VARCHAR2\b|\bSEGMENT CREATION\b|\bPCTFREE\b|\bNOT NULL ENABLE\b|\bWITH LOCAL TIME"
        r" ZONE\b|\bNUMBER\s*\(\s*(?:\d+|\*)\s*[,)]|\bBINARY_(?:FLOAT|DOUBLE)\b"
    ),
    "tidb": r"/\*T!|\bAUTO_RANDOM\b",
    "mariadb": (
        r"/\*M!|\bENGINE\s*=\s*Aria\b|(?-i:\bDEFAULT current_timestamp\()|_uca1400_|\bWITH SYSTEM"
        r" VERSIONING\b"
    ),
    "mysql": (
        r"`|/\*!\d{5}|\bENGINE\s*=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|\b(?:tiny|medium|long)(?:text|blob|int)\b|\bCHARSET\b"
        r"|\bDATETIME\b|\bCHARACTER SET\b|\bTINYINT\b"
    ),
    "postgresql": (
        r"::\w|\bALTER TABLE ONLY\b|\bCREATE"
        r" (?:TYPE|DOMAIN)\b|\b(?:big|small)?serial\b|\btimestamptz\b|\bjsonb\b"
        r"|\bbytea\b|\bcharacter varying\b|\bwith(?:out)? time zone\b|\bsearch_path\b|\bAS"
        r" IDENTITY\b|\bCREATE EXTENSION\b"
    ),
}
"""What tells a dialect anywhere in the text, the most special dialect first."""

_TABLE: Final = re.compile(r"\bCREATE\s+(?:\w+\s+){0,3}TABLE\b", re.IGNORECASE)
"""How a statement begins that makes a table."""
_IGNORED: Final = re.compile(
    r"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|--[^\n]*|^(?:INSERT|PROMPT|REM) [^\n]*",
    re.MULTILINE | re.DOTALL,
)
"""What tells nothing: texts, comments, rows, what SQL*Plus prints."""


def read_schema(
    sources: Sequence[str],
    dialect: str | None = None,
    database: str | None = None,
    fallback: str | None = None,
) -> Schema:
    """The tables of files of DDL and of databases' URLs, in their order. `dialect` is one of
    `DIALECTS`; with None it is taken from the text, or else is `fallback`. `database` is that of
    tables whose DDL names none. Raises UsageError for a source that cannot be read, and for a
    dialect that is not known.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise UnknownName("dialect", dialect, DIALECTS)
    if not sources:
        raise UsageError("no file of DDL and no database to read tables from")
    scripts = [
        live.read_ddl(source) if live.is_url(source) else live.DdlSource(source, _read_file(source))
        for source in sources
    ]
    files = ", ".join(file_name for file_name, _ in scripts)
    if not any(_TABLE.search(ddl) for _, ddl in scripts):
        raise UsageError(f"no CREATE TABLE in {files}")
    used_dialect = dialect or _common_dialect(scripts, fallback)
    reader = _READERS[DIALECTS[used_dialect]](used_dialect, database, DATABASE)
    try:
        for file, ddl in scripts:
            reader.read_script(Script(file, ddl, used_dialect))
        schema = reader.schema()
    except RecursionError as error:
        raise UsageError(f"{files}: an expression is nested too deeply to be read") from error
    if not schema.tables:
        notes = "".join(f"\n  {note}" for note in schema.notes[:12])
        raise UsageError(f"no table of {files} could be taken:{notes}")
    return schema


def _read_file(source: str) -> str:
    """The text of a file of DDL. A byte that is not UTF-8 becomes a lone surrogate, so that its
    place can be named later.
    """
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{source}: cannot be read: {error.strerror}") from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")  # what PowerShell's > writes
    return data.decode("utf-8-sig", "surrogateescape")


def detect_dialect(ddl: str) -> str | None:
    """The SQL dialect of a DDL text, by marks that only one dialect has; None if it has no such
    mark.
    """
    for marks, searched in ((_HEADERS, ddl[:4000]), (_MARKS, _IGNORED.sub(" ", ddl))):
        for dialect, mark in marks.items():
            if re.search(mark, searched, re.IGNORECASE | re.MULTILINE):
                return dialect
    return None


def _common_dialect(scripts: Sequence[live.DdlSource], fallback: str | None) -> str:
    """The one SQL dialect of all files, or `fallback` if none of them shows its dialect. Files of
    MySQL beside files of MariaDB, or of TiDB, are of the more special dialect, which stands first
    in _MARKS. Raises UsageError if there is neither, or if files show several other dialects;
    MariaDB and TiDB together are two.
    """
    by_file = {file: detect_dialect(ddl) for file, ddl in scripts}
    legal = ", ".join(DIALECTS)
    dialects = {dialect for dialect in by_file.values() if dialect}
    if not dialects and fallback:
        return fallback
    if not dialects:
        raise UsageError(f"{scripts[0].name}: the text does not tell its dialect; name it: {legal}")
    if len({DIALECTS[dialect] for dialect in dialects}) > 1 or {"mariadb", "tidb"} <= dialects:
        found_dialects = ", ".join(
            f"{file}: {dialect}" for file, dialect in by_file.items() if dialect
        )
        raise UsageError(
            f"the files are of several dialects ({found_dialects}); name the dialect of all:"
            f" {legal}"
        )
    return next(dialect for dialect in _MARKS if dialect in dialects)
