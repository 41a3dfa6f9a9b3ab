"""A user's tables, from files of DDL and from databases."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from generators.errors import UnknownName, UsageError
from generators.tables.base import DIALECTS, Schema
from generators.tables.ddl import Reader
from generators.tables.ddl_text import Script

DATABASE: Final = "app"
"""The database of tables for which neither the caller nor the DDL names one."""

_MARKS: Final[Mapping[str, str]] = {
    "postgresql": r"^-- PostgreSQL database dump|\bALTER TABLE ONLY\b|\bCREATE TYPE\b|::\w|\b(?:big|small)?serial\b"
    r"|\btimestamptz\b|\bcharacter varying\b|\bwith(?:out)? time zone\b|\bjsonb\b|\bbytea\b|\bsearch_path\b|\bnextval\s*\(\s*'|\bAS IDENTITY\b",
    "tidb": r"/\*T!|\bAUTO_RANDOM\b|-TiDB-",
    "mariadb": r"^-- MariaDB dump|/\*M!|-MariaDB\b|\bENGINE\s*=\s*Aria\b|\bcurrent_timestamp\(\d?\)(?=[\s,]).*ENGINE=|_uca1400_",
    "mysql": r"^-- MySQL dump|/\*!\d{5}|`|\bENGINE\s*=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|\b(?:tiny|medium|long)(?:text|blob|int)\b"
    r"|\bDEFAULT CHARSET\b",
}
"""What tells a dialect, in the order of how much it tells. MySQL's marks stand in dumps of MariaDB and TiDB, too."""


def read(sources: Sequence[str], dialect: str | None = None, database: str | None = None) -> Schema:
    """The tables of files of DDL and of databases' URLs, in their order.

    `dialect` is one of `DIALECTS`, None to take it from the text; `database` is that of tables for which the DDL names none.
    Raises UsageError for what cannot be read, and for a dialect that cannot be told.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise UnknownName("dialect", dialect, DIALECTS)
    if not sources:
        raise UsageError("no file of DDL and no database to read tables from")
    texts = [(source, _text(source)) for source in sources]
    chosen = dialect or _dialect(texts)
    reader = Reader(chosen, database, DATABASE)
    for file, text in texts:
        reader.run(Script(file, text, chosen))
    schema = reader.schema()
    if not schema.tables:
        why = f"; {schema.notes[0]}" if reader.tables and schema.notes else ""
        raise UsageError(f"no table in {', '.join(sources)}: no CREATE TABLE that could be taken{why}")
    return schema


def _text(source: str) -> str:
    """A file's text; a byte that is not UTF-8 is a lone surrogate."""
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{source}: cannot be read: {error.strerror}") from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")  # what PowerShell's > writes
    return data.decode("utf-8-sig", "surrogateescape")


def told(text: str) -> str | None:
    """The dialect of a text, None if it has no mark of any."""
    found = [dialect for dialect, marks in _MARKS.items() if re.search(marks, text, re.IGNORECASE | re.MULTILINE)]
    return found[0] if found else None


def _dialect(texts: Sequence[tuple[str, str]]) -> str:
    found = {file: told(text) for file, text in texts}
    legal = ", ".join(DIALECTS)
    dialects = {one for one in found.values() if one}
    if not dialects:
        raise UsageError(f"{texts[0][0]}: the text does not tell its dialect; name it: {legal}")
    if len({DIALECTS[one] for one in dialects}) > 1 or {"mariadb", "tidb"} <= dialects:
        shown = ", ".join(f"{file}: {one}" for file, one in found.items() if one)
        raise UsageError(f"the files are of several dialects ({shown}); name the dialect of all: {legal}")
    return next(one for one in _MARKS if one in dialects)
