"""The named cases that only Simple messages in Avro have, beside those of both encodings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.families.cases import Cases, deleted, inserted, updated
from generators.families.ticdc_simple.scenarios import BASE64
from generators.families.ticdc_simple.scenarios import scenarios as both
from generators.formats.ticdc_simple_avro.profiles import AvroProfile
from generators.model import Bootstrap, Column, Row, Scenario, SchemaChange, Table, Watermark
from generators.sources import mysql
from generators.sources.boundaries import ID, START, insert, named, neutral


def scenarios(profile: AvroProfile, database: str) -> Iterator[Scenario]:
    """Every named case of this format for a profile. `database` is that of the tables of level one
    (cases whose values are compared as texts). Left out are the cases of binary values whose base64
    looks like another text: Avro writes bytes.
    """
    yield from (scenario for scenario in both(profile, database) if BASE64 not in scenario.tags)
    yield from _defaults(database)
    yield from _map_rows(database)
    yield _framing(database)


def _defaults(database: str) -> Iterator[Scenario]:
    """Yields the case of BIT columns whose default is a raw byte string: one that is no UTF-8, and
    one of several bytes (ticdc#simple-bit-default).
    """
    for label, bits, literal, tags in (
        ("bit-wide", 16, "b'100000101000010'", ("default:bit",)),
        ("bit-not-utf-8", 8, "b'11111111'", ("default:bit-not-utf-8",)),
    ):
        name = f"default/{label}"
        declared = f"`c` bit({bits}) DEFAULT {literal}"
        sql = (
            f"CREATE TABLE {mysql.quote(neutral(name))} (`id` bigint NOT NULL, {declared}, PRIMARY"
            " KEY (`id`))"
        )
        table = Table(database, neutral(name), (ID, Column("c", mysql.bit(bits))), ("id",))
        yield named(
            name,
            SchemaChange(START, "create table", sql, database, table.name, after=table),
            tags=("default", *tags),
        )


def _map_rows(database: str) -> Iterator[Scenario]:
    """Yields the cases on Avro's maps of columns: a value of every branch of the union, many
    columns in any order, and FLOATs that are written as doubles.
    """
    cases = Cases(database)
    columns = (
        ID,
        Column("i", mysql.integer("int")),
        Column("u", mysql.integer("bigint", unsigned=True)),
        Column("f", mysql.real("float")),
        Column("d", mysql.real("double")),
        Column("s", mysql.text("varchar", 64)),
        Column("b", mysql.binary("varbinary", 64)),
        Column("t", mysql.temporal("timestamp", 6)),
    )
    every_branch: Row = {
        "id": 1,
        "i": -1,
        "u": (1 << 64) - 1,
        "f": mysql.to_float32(123.99),
        "d": 123.99,
        "s": "123.99",
        "b": b"\x00\xff123.99",
        "t": mysql.wall("2024-01-01 00:00:00.000001"),
    }
    bare: Row = {**dict.fromkeys(every_branch), "id": 1}
    yield cases.of(*columns).case(
        "map/every-branch", updated(every_branch, bare), updated(bare, every_branch)
    )
    numbers = tuple(Column(f"n{i}", mysql.integer("int")) for i in range(8))
    first, changed_row = (
        {"id": 1, **{c.name: base + i for i, c in enumerate(numbers)}} for base in (10, 20)
    )
    pairs = (inserted(first), updated(first, changed_row), deleted(changed_row))
    yield cases.of(ID, *numbers).case("map/order", *pairs, tags=("map:order",))
    reals = {
        "tenth": 0.1,
        "third": 1 / 3,
        "max": 3.4028234663852886e38,
        "least": 1.401298464324817e-45,
        "sixteen": 16777217.0,
    }
    yield cases.of(ID, *(Column(n, mysql.real("float")) for n in reals)).case(
        "float/widened", inserted({"id": 1, **{n: mysql.to_float32(v) for n, v in reals.items()}})
    )


def _framing(database: str) -> Scenario:
    """The case of a history that gives one message of each of the four types: a BOOTSTRAP, a DDL
    statement, a row and a watermark, which differ in the bytes that Avro puts before them.
    """
    name = "framing/every-type"
    table = Table(database, neutral(name), (ID, Column("c", mysql.integer("int"))), ("id",))
    changed = SchemaChange(
        START,
        "table comment",
        f"ALTER TABLE {mysql.quote(table.name)} COMMENT = 'x'",
        database,
        table.name,
    )
    events = (Bootstrap(START, table), replace(changed, before=table, after=table))
    return named(
        name, *events, insert(table, {"id": 1, "c": 11}), Watermark(START), tags=("framing",)
    )
