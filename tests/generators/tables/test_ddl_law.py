"""A table that is printed as DDL and read again is the same; DDL that is spoiled is a mistake of the user's, never of ours."""

import contextlib
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.drawing import strategies
from generators.errors import UsageError
from generators.sources.registry import SOURCES
from generators.tables.reading import read
from recorders import sql


@pytest.mark.parametrize("source", SOURCES)
def test_a_table_that_is_printed_and_read_is_the_same(source, tmp_path):
    path = tmp_path / "tables.sql"

    @settings(max_examples=100)
    @given(st.lists(strategies.tables(source=source), min_size=1, max_size=3, unique_by=lambda table: table.name))
    def holds(tables):
        statements = [statement for table in tables for statement in sql.created(table, sql.DIALECTS[source])]
        path.write_text("".join(f"{statement};\n" for statement in statements), encoding="utf-8", errors="surrogatepass")
        schema = read([str(path)], dialect=source, database="drawn")
        assert [replace(user.table, indexes=()) for user in schema.tables] == tables
        assert [note for note in schema.notes if note.line] == []

    holds()


DUMPS = {
    "tidb": """CREATE TABLE `t` (
  `id` bigint unsigned NOT NULL /*T![auto_rand] AUTO_RANDOM(5) */ COMMENT 'it''s', `c` decimal(5,2) DEFAULT -0.5,
  `e` enum('a','b') CHARACTER SET latin1 DEFAULT 'a', `g` int GENERATED ALWAYS AS (`id` + 1) STORED,
  PRIMARY KEY (`id`) /*T![clustered_index] CLUSTERED */, UNIQUE KEY `u` (`c` DESC, `e`(1)),
  CONSTRAINT `k` CHECK ((`c` > 0) AND (`e` IN ('a'))), CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `t` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='x' /*T![ttl] TTL=`b` + INTERVAL 1 YEAR */ PARTITION BY HASH (`id`);
ALTER TABLE `t` ADD COLUMN (d int), MODIFY `c` int FIRST, DROP COLUMN `g`; CREATE INDEX i ON t (c); DROP TABLE u;""",
    "postgresql": """CREATE TYPE public.mood AS ENUM ('a', 'b'); ALTER TYPE mood ADD VALUE 'c' BEFORE 'a';
CREATE DOMAIN d AS integer DEFAULT 5 NOT NULL CHECK (VALUE > 0);
CREATE TABLE public.t (id integer NOT NULL, m public.mood DEFAULT 'a'::public.mood, "D" d[], n numeric(10,2)[] COLLATE "C",
  t timestamp(3) with time zone, g text GENERATED ALWAYS AS (lower(m::text)) STORED, i interval day to second(3),
  CONSTRAINT c CHECK (((n)::text = ANY (ARRAY['a'::text]))), UNIQUE (id, m)) PARTITION BY RANGE (id);
ALTER TABLE ONLY public.t ADD CONSTRAINT p PRIMARY KEY (id), ALTER COLUMN id SET DEFAULT nextval('s'::regclass);
ALTER TABLE t REPLICA IDENTITY FULL; COMMENT ON COLUMN t.id IS E'x\\n'; COMMENT ON TABLE t IS NULL;
CREATE UNIQUE INDEX i ON t USING btree (id) INCLUDE (m) WHERE (id > 5); COPY t (id) FROM stdin;
1
\\.
""",
}


@pytest.mark.parametrize("dialect", DUMPS)
def test_spoiled_ddl_is_a_mistake_of_the_user(dialect, tmp_path):
    path, words = tmp_path / "a.sql", re.findall(r"\w+|\s+|[^\w\s]", DUMPS[dialect])
    path.write_text(DUMPS[dialect], encoding="utf-8")
    assert len(read([str(path)], dialect).tables) == 1
    places = st.integers(0, len(words) - 1)

    @settings(max_examples=60)
    @given(st.lists(st.tuples(places, st.integers(0, 4), st.sampled_from([*words, ""])), min_size=1, max_size=3))
    def holds(edits):
        spoiled = list(words)
        for at, gone, put in edits:
            spoiled[at : at + gone] = [put]
        path.write_text("".join(spoiled), encoding="utf-8")
        with contextlib.suppress(UsageError):
            read([str(path)], dialect)

    holds()
