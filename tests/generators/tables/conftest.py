"""A user's schema with every kind of constraint, and SQLite as the oracle of what its database
would refuse.
"""

import sqlite3
from collections import Counter
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

from generators.model import Column, Default, Index, RowChange, SchemaChange, Table
from generators.sources import mysql
from generators.tables.reading import read_schema
from generators.tables.schema import Check, ForeignKey, Schema, UserTable, table_name
from generators.tables.user_values import Values

CUSTOMERS = Table(
    "shop",
    "customers",
    (
        Column("id", mysql.integer("bigint", unsigned=True), False),
        Column("email", mysql.text("varchar", 60), False),
        Column("name", mysql.text("varchar", 12), charset="latin1"),
        Column("tier", mysql.enum_of("basic", "gold"), False, default=Default("'basic'", 1)),
        Column("since", mysql.temporal("date")),
    ),
    ("id",),
    (("email",),),
)
ORDERS = Table(
    "shop",
    "orders",
    (
        *(
            Column("id", mysql.integer("int"), False),
            Column("customer_id", mysql.integer("bigint", unsigned=True), False),
        ),
        *(
            Column("amount", mysql.decimal(12, 2), False),
            Column("quantity", mysql.integer("int"), False),
        ),
        *(
            Column("total", mysql.decimal(14, 2), generated="stored"),
            Column("replaces", mysql.integer("int")),
        ),
        Column("note", mysql.text("text")),
    ),
    ("id",),
    indexes=(Index("ix", ("customer_id",)),),
)
ITEMS = Table(
    "shop",
    "items",
    (
        *(
            Column("order_id", mysql.integer("int"), False),
            Column("line", mysql.integer("tinyint", unsigned=True), False),
        ),
        *(
            Column("code", mysql.text("char", 8), False),
            Column("price", mysql.decimal(10, 2, unsigned=True)),
        ),
    ),
    ("order_id", "line"),
)
SCHEMA = Schema(
    "mysql",
    (
        UserTable(
            ITEMS,
            (ForeignKey(("order_id",), table_name(ORDERS), ("id",)),),
            (Check("line", "line between 1 and 8", 1, 8),),
        ),
        UserTable(
            ORDERS,
            (
                ForeignKey(("customer_id",), table_name(CUSTOMERS), ("id",)),
                ForeignKey(("replaces",), table_name(ORDERS), ("id",)),
            ),
            (
                Check("quantity", "quantity between 1 and 99", 1, 99),
                Check("amount", "amount >= 0", Decimal("0.00")),
            ),
        ),
        UserTable(CUSTOMERS),
    ),
)

# amount and the like are compared as floats: SQLite has no decimals.
SQL = (
    (
        "CREATE TABLE customers (id NOT NULL PRIMARY KEY, email TEXT NOT NULL COLLATE NOCASE UNIQUE, name, tier NOT NULL"
        " CHECK (tier IN (0, 1, 2)), since, added)"
    ),
    (
        "CREATE TABLE orders (id NOT NULL PRIMARY KEY, customer_id NOT NULL REFERENCES customers (id), amount NOT NULL CHECK"
        " (amount >= 0), quantity NOT NULL CHECK (quantity BETWEEN 1 AND 99), total, replaces REFERENCES orders (id), note,"
        " added)"
    ),
    (
        "CREATE TABLE items (order_id NOT NULL REFERENCES orders (id), line NOT NULL CHECK (line BETWEEN 1 AND 8), code NOT NULL,"
        " price, added, PRIMARY KEY (order_id, line))"
    ),
)


class Database:
    """SQLite with the constraints of `SCHEMA`, written by hand; it raises IntegrityError for what
    they forbid.
    """

    def __init__(self):
        self.link = sqlite3.connect(":memory:", isolation_level=None)
        self.link.execute("PRAGMA foreign_keys = ON")
        for statement in SQL:
            self.link.execute(statement)
        self.ops = Counter()
        self.names = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.link.close()

    def apply(self, event):
        """Applies an event; the row before an UPDATE or DELETE must be there, whole."""
        if isinstance(event, SchemaChange):
            if event.action == "truncate table":
                self.link.execute(f"DELETE FROM {self.name(event.before)}")
            elif event.action == "rename table":
                self.names[event.after.name] = self.name(event.before)
            elif event.action == "add column":
                self.link.execute(f"UPDATE {self.name(event.before)} SET added = 1")
            return
        assert isinstance(event, RowChange)
        name = self.name(event.table)
        self.ops[name, event.op] += 1
        for images in event.rows:
            before, after = (
                row and {column: plain(cell) for column, cell in row.items()}
                for row in (images.before, images.after)
            )
            if before is None:
                marks = ", ".join("?" * len(after))
                self.link.execute(
                    f"INSERT INTO {name} ({', '.join(after)}) VALUES ({marks})", [*after.values()]
                )
                continue
            where = " AND ".join(f"{column} IS ?" for column in before)
            (count,) = self.link.execute(
                f"SELECT count(*) FROM {name} WHERE {where}", [*before.values()]
            ).fetchone()
            assert count == 1, f"{name} has {count} rows {before}"
            if after is None:
                self.link.execute(f"DELETE FROM {name} WHERE {where}", [*before.values()])
            else:
                sets = ", ".join(f"{column} = ?" for column in after)
                self.link.execute(
                    f"UPDATE {name} SET {sets} WHERE {where}", [*after.values(), *before.values()]
                )

    def name(self, table):
        return self.names.get(table.name, table.name)


def plain(cell):
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, int) and not -(1 << 63) <= cell < 1 << 63:
        return str(cell)
    return cell if cell is None or isinstance(cell, int | float | str | bytes) else repr(cell)


@pytest.fixture(scope="session")
def shop():
    """The schema, its values, its tables, and the database that judges them."""
    items, orders, customers = SCHEMA.tables
    return SimpleNamespace(
        schema=SCHEMA,
        values=Values(SCHEMA),
        items=items,
        orders=orders,
        customers=customers,
        database=Database,
    )


@pytest.fixture
def reads(tmp_path):
    """Reads a text as the file a.sql."""

    def run(text, **options):
        path = tmp_path / "a.sql"
        path.write_text(text, encoding="utf-8")
        return read_schema([str(path)], **options)

    return run


@pytest.fixture
def notes(tmp_path):
    """The notes of a schema, without the folder of their file."""
    return lambda schema: [str(note).replace(f"{tmp_path}/", "") for note in schema.notes]


@pytest.fixture
def noted():
    """What is to be noted of a dump, a line each."""
    return lambda name: (
        Path(__file__).with_name("dumps").joinpath(f"{name}.notes").read_text("utf-8").splitlines()
    )
