"""The tables of a running database, as the text of the DDL that makes them."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from generators.errors import HarnessError, UsageError
from generators.sources import mysql
from generators.tables.live_postgresql import Query, dump_statements

PASSWORD: Final = "CDC_CONFORMANCE_DATABASE_PASSWORD"
"""The environment variable of the password; the clients' own come after it."""

_URL: Final = re.compile(r"([A-Za-z][\w+.:-]+):/")
"""How a URL begins; a scheme of one letter is a drive of Windows."""
_FORM: Final = "scheme://user@host:port/database expected"
"""What an error says of the form of a URL."""
_TIMEOUT_S: Final = 15
"""Seconds after which a connection, or an answer of MySQL, is given up."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is; it holds no password."""

    scheme: str
    user: str
    host: str
    port: int
    database: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.user}@{self.host}:{self.port}/{self.database}"


@dataclass(frozen=True, slots=True)
class DatabaseKind:
    """A family of databases. `module` is the driver's Python module, `port` the default one,
    `variable` the environment variable from which the database's own client takes the password.
    `database` is the driver's name of the argument for the database, `options` are further
    arguments; `script` gives the statements that make the tables of an open connection's database.
    """

    module: str
    port: int
    variable: str
    database: str
    options: Mapping[str, Any]
    script: Callable[[Query, Address], Iterator[str]]


def is_url(source: str) -> bool:
    """Whether a source of DDL that the user names is a URL, not a file."""
    return bool(_URL.match(source))


def parse_address(url: str) -> Address:
    """The address of a URL. Raises UsageError, which repeats nothing that may be a password."""
    scheme = url.partition("://")[0].lower()
    if scheme not in KINDS:
        unknown_scheme = scheme if scheme.isalnum() else "of this form"
        raise UsageError(
            f"no database has a URL {unknown_scheme}: {_FORM}, with one of the schemes"
            f" {', '.join(KINDS)}"
        )
    try:
        parts = urlsplit(url)
        port, database = parts.port or KINDS[scheme].port, unquote(parts.path.removeprefix("/"))
    except ValueError:
        raise UsageError(f"this URL of {scheme} is not understood: {_FORM}") from None
    if parts.password is not None:
        raise UsageError(
            f"the URL of {scheme}://{parts.hostname} holds a password, which others can see; set"
            f" {PASSWORD} instead"
        )
    if (
        not (parts.hostname and parts.username and database)
        or parts.query
        or parts.fragment
        or "/" in database
    ):
        raise UsageError(f"this URL of {scheme} is not understood: {_FORM}, and nothing else")
    return Address(scheme, unquote(parts.username), parts.hostname, port, database)


class DdlSource(NamedTuple):
    """The name by which notes call a file or a database, and the DDL of its tables."""

    name: str
    ddl: str


def read_ddl(url: str, environment: Mapping[str, str] = os.environ) -> DdlSource:
    """The DDL of the tables of a URL's database. The password is taken from `environment`. Raises
    UsageError for a wrong URL, and HarnessError if the database cannot be read.
    """
    database_address = parse_address(url)
    kind = KINDS[database_address.scheme]
    try:
        driver = importlib.import_module(kind.module)
    except ImportError:
        raise UsageError(
            f"{database_address} needs the driver {kind.module}: install the extra `databases` (pip install"
            " 'cdc-conformance[databases]')"
        ) from None
    password = environment.get(PASSWORD) or environment.get(kind.variable)
    try:
        location = {
            "host": database_address.host,
            "port": database_address.port,
            "user": database_address.user,
            kind.database: database_address.database,
        }
        new_connection = driver.connect(
            **location, password=password, connect_timeout=_TIMEOUT_S, **kind.options
        )
        with contextlib.closing(new_connection) as connection:

            def query(sql: str) -> Sequence[Sequence[Any]]:
                """Runs a statement on the open connection and returns the rows of its result, none
                for a statement without a result.
                """
                with contextlib.closing(connection.cursor()) as cursor:
                    cursor.execute(sql)
                    result_rows: Sequence[Sequence[Any]] = (
                        cursor.fetchall() if cursor.description else ()
                    )
                    return result_rows

            statements = kind.script(query, database_address)
            ddl = "".join(f"{statement};\n" for statement in statements)
            return DdlSource(str(database_address), ddl)
    except (driver.Error, OSError, RuntimeError) as error:
        message = str(error).strip()
        message = message.replace(password, "***") if password else message
        raise HarnessError(f"{database_address} cannot be read: {message}") from None


def _mysql_script(query: Query, where: Address) -> Iterator[str]:
    """The statements that make all tables of a MySQL database, as the server prints them, behind a
    comment that tells the dialect, as that of a dump does. For a view, or another object that is
    no table, a CREATE with nothing but its name stands, so that the reader notes it.
    """

    def decode(cell: Any) -> str:
        """The bytes of a cell as text; what is not UTF-8 becomes lone surrogates, so that its place
        can be named later.
        """
        return bytes(cell).decode("utf-8", "surrogateescape")

    def show(sql: str) -> list[tuple[str, str]]:
        """The first two columns of a statement's result; a single column comes twice."""
        return [(decode(cells[0]), decode(cells[:2][-1])) for cells in query(sql)]

    query("SET SESSION sql_mode = '', time_zone = '+00:00'")
    yield f"-- Server version\t{show('SELECT VERSION()')[0][0]}\nUSE {mysql.quote(where.database)}"
    for name, kind in sorted(show("SHOW FULL TABLES")):
        if kind in ("BASE TABLE", "SYSTEM VERSIONED"):
            yield show(f"SHOW CREATE TABLE {mysql.quote(name)}")[0][1]
        else:
            yield f"CREATE {kind} {mysql.quote(name)}"


# Bytes, since the default of a binary column may be no text.
_MYSQL_OPTIONS: Final = {"charset": "utf8mb4", "use_unicode": False, "read_timeout": _TIMEOUT_S}
_MYSQL: Final = DatabaseKind(
    "pymysql", 3306, "MYSQL_PWD", "database", _MYSQL_OPTIONS, _mysql_script
)
_POSTGRESQL_OPTIONS: Final = {
    "autocommit": True,
    "client_encoding": "utf8",
    "options": "-c default_transaction_read_only=on -c statement_timeout=60000",
}
_POSTGRESQL: Final = DatabaseKind(
    "psycopg",
    5432,
    "PGPASSWORD",
    "dbname",
    _POSTGRESQL_OPTIONS,
    lambda query, where: dump_statements(query, where.database),
)
KINDS: Final[Mapping[str, DatabaseKind]] = {
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "tidb": replace(_MYSQL, port=4000),
    "postgresql": _POSTGRESQL,
}
"""Databases by the scheme of their URL."""
