"""What is generic holds for every source: its types, its statements, its pool."""

import pytest

from generators.bulk import orders
from generators.errors import UnknownName
from generators.model import Column, Logical, Table
from generators.sources import boundaries, databases, mysql, postgresql

EVERY = list(databases.SOURCES.values())


def test_lookup() -> None:
    assert databases.source("mysql") is databases.MYSQL
    assert databases.source_of(postgresql.uuid()) is databases.POSTGRESQL
    assert (
        databases.of_table(Table("d", "t", (Column("a", postgresql.uuid()),)))
        is databases.POSTGRESQL
    )
    with pytest.raises(UnknownName, match="Did you mean 'postgresql'"):
        databases.source("postgres")


@pytest.mark.parametrize("source", EVERY, ids=lambda source: source.name)
def test_a_source_is_whole(source: databases.Source) -> None:
    named = (source.key, source.number, source.string, source.moment, source.long_text)
    moments = (Logical.DATETIME, Logical.TIMESTAMP)
    assert source.moment.logical in moments
    assert [kind.logical for kind in named] == [
        Logical.INT,
        Logical.INT,
        Logical.TEXT,
        source.moment.logical,
        Logical.TEXT,
    ]
    kinds = {
        *named,
        *source.types.values(),
        *(kind for family in source.families for kind in family),
    }
    assert {kind.source for kind in kinds} == {source.name}
    assert set(source.bulk_keys) <= set(source.types)
    assert all(source.keyable(source.types[name]) for name in source.bulk_keys)
    assert set(source.drawn_ddl) <= set(source.ddl_actions)
    assert {(kind.name, kind.logical) for kind in source.types.values()} <= {
        (kind.name, kind.logical) for family in source.families for kind in family
    }


def test_no_pool_is_shared() -> None:
    pools = [boundaries.pool(lambda _kind: True, source.name) for source in EVERY]
    assert len({table.database for pool in pools for table in pool}) == len(EVERY)
    assert [[table.name for table in pool] for pool in pools] == [
        ["ledger", "plant `x`", "visits"]
    ] * len(EVERY)


def test_dispatch_of_fits() -> None:
    assert databases.fits(mysql.text("char", 4), "ab")
    assert not databases.fits(postgresql.text("char", 4), "ab")
    assert databases.fits(postgresql.text("char", 4), "ab  ")


def test_texts_as_stored() -> None:
    assert databases.MYSQL.as_stored(mysql.text("char", 4), "a\0 ") == "a\0"
    assert databases.MYSQL.as_stored(mysql.text("varchar", 4), "a\0 ") == "a\0 "
    assert databases.POSTGRESQL.as_stored(postgresql.text("char", 4), "a\0 ") == "a   "
    assert databases.POSTGRESQL.as_stored(postgresql.text("varchar", 4), "a\0 ") == "a "


def test_identifiers() -> None:
    assert databases.MYSQL.identifier("n" * 64) == "n" * 64
    assert databases.POSTGRESQL.identifier("n" * 64) == "n" * 63
    assert databases.POSTGRESQL.identifier("汉" * 22) == "汉" * 21
    assert databases.POSTGRESQL.identifier("n" * 62 + "汉") == "n" * 62


@pytest.mark.parametrize("source", EVERY, ids=lambda source: source.name)
def test_the_load_table(source: databases.Source) -> None:
    table = orders.load_table(source.name)
    assert {column.type.source for column in table.columns} == {source.name}
    logicals = {Logical.TIMESTAMP: Logical.DATETIME}  # MongoDB's dates, which have a zone
    assert [logicals.get(column.type.logical, column.type.logical) for column in table.columns] == [
        column.type.logical for column in orders.load_table().columns
    ]
    assert table.schema == source.schema
