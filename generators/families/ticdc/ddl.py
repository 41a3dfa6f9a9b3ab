"""DDL as TiCDC sends it: restored by TiDB's parser from the statement that the user wrote
(ticdc#ddl-restored).

Words are in upper case, names in back quotes, texts in expressions have an introducer, TiDB's own
features stand in comments. Each method has the rules of a `Restore` function of TiDB's parser; a
statement that is not known here raises Refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from generators.families.ticdc.ddl_columns import Statement, bare, commented
from generators.families.ticdc.ddl_views import Selects
from generators.families.ticdc.sql import UNARY, tokens, unquoted
from generators.sources.mysql import quote


def restored(sql: str, placement: bool = False, ttl_off: bool = True, routed: str = "") -> str:
    """The SQL of a statement as TiDB's parser prints it again, which is what TiCDC sends. Raises
    Refused for a statement that is not known here.

    `placement` says that TiCDC keeps placement rules, `ttl_off` that it turns TTL off: each
    concerns some releases. `routed` is the database of a statement whose tables are routed: the
    restored text is read and restored once more.
    """
    restored_once = parse(sql, placement, ttl_off).text
    return parse(restored_once, ttl_off=False, routed=routed).text if routed else restored_once


@lru_cache(4096)
def parse(
    sql: str,
    placement: bool = False,
    ttl_off: bool = True,
    routed: str = "",
    table_indexes: tuple[str, ...] = (),
) -> Statement:
    """Parses a DDL statement. `Statement.text` is the SQL as TiDB's parser prints it again, the
    other fields are what else the statement says. Raises Refused for a statement that is not known
    here.

    `placement` says that TiCDC keeps placement rules, `ttl_off` that it turns TTL off; `routed` is
    the database of a statement whose tables are routed. `table_indexes` are the names of the
    indexes that the table of an ALTER TABLE has, which one without a name does not get.
    """
    parser = _Parser(
        sql,
        tuple(tokens(sql)),
        placement=placement,
        ttl_off=ttl_off,
        routed=routed,
        table_indexes=table_indexes,
    )
    parser.statement.text = parser.restored()
    parser.skip(";")
    if not parser.ended:
        raise parser.refusal()
    return parser.statement


@dataclass(slots=True)
class _Parser(Selects):
    """Reads whole DDL statements. Each method reads a part of one, and returns it as TiDB prints
    it.
    """

    def restored(self) -> str:
        """Reads a DDL statement and returns it as TiDB's parser restores it. Raises Refused for a
        statement that is not known here, and for one of which nothing is left.
        """
        if self.skip("CREATE"):
            return self.create()
        if self.either("ALTER TABLE", "ALTER IGNORE TABLE"):
            return self.alter()
        if self.either("ALTER DATABASE", "ALTER SCHEMA"):
            has_name = self.next not in (
                "DEFAULT",
                "CHARACTER",
                "CHAR",
                "COLLATE",
                "ENCRYPTION",
                "PLACEMENT",
                "SET",
            )
            name = f" {self.name()}" if has_name else ""
            if not (options := self.database_options()).strip():
                # of a placement rule alone nothing is left, and TiCDC does not send it
                raise self.refusal()
            return f"ALTER DATABASE{name}{options}"
        if self.skip("DROP INDEX"):
            existing = "/*T! IF EXISTS  */" if self.skip("IF EXISTS") else ""
            name = self.plain_name()
            self.statement.dropped_indexes.append(bare(name))
            return f"DROP INDEX {existing}{name} {self.expect('ON')} {self.table()}{self.lock()}"
        if self.either("DROP DATABASE", "DROP SCHEMA"):
            return f"DROP DATABASE {self.existing()}{self.name()}"
        if words := self.either("DROP TABLE", "DROP VIEW", "DROP SEQUENCE"):
            statement = f"{words} {self.existing()}{self.listed(self.table, ', ')}"
            self.either("RESTRICT", "CASCADE")
            return statement
        if self.either("TRUNCATE TABLE", "TRUNCATE"):
            return f"TRUNCATE TABLE {self.table()}"
        if self.skip("RECOVER TABLE"):
            return f"RECOVER TABLE {self.table()}"
        if self.skip("FLASHBACK TABLE"):
            return f"FLASHBACK TABLE {self.table()}" + (
                f" TO {self.plain_name()}" if self.skip("TO") else ""
            )
        self.expect("RENAME TABLE")
        return "RENAME TABLE " + self.listed(
            lambda: f"{self.table()} {self.expect('TO')} {self.table()}", ", "
        )

    def existing(self) -> str:
        """Reads IF EXISTS if it comes next, and returns it with a blank behind it; "" if not."""
        return "IF EXISTS " if self.skip("IF EXISTS") else ""

    def absent(self) -> str:
        """Reads IF NOT EXISTS if it comes next, and returns it with a blank behind it; "" if
        not.
        """
        return "IF NOT EXISTS " if self.skip("IF NOT EXISTS") else ""

    def create(self) -> str:
        """Reads the rest of a CREATE statement, and returns the whole as TiDB prints it. Raises
        Refused for a statement that is not known here.
        """
        if self.either("DATABASE", "SCHEMA"):
            return f"CREATE DATABASE {self.absent()}{self.name()}{self.database_options()}"
        if self.skip("SEQUENCE"):
            return f"CREATE SEQUENCE {self.absent()}{self.table()}{self.sequence()}"
        if self.next in ("OR", "ALGORITHM", "DEFINER", "SQL", "VIEW"):
            return self.view()
        if kind := self.either("UNIQUE INDEX", "FULLTEXT INDEX", "INDEX"):
            name = self.absent() + self.plain_name()
            using = (
                f"USING {self.expect('BTREE', 'HASH', 'RTREE')}"
                if self.either("USING", "TYPE")
                else ""
            )
            statement = f"CREATE {kind} {name} {self.expect('ON')} {self.table()} {self.parts()}"
            self.list_index(bare(name.removeprefix("IF NOT EXISTS ")), kind.startswith("UNIQUE"))
            self.name_added_indexes()
            return statement + self.index_options(using) + self.lock()
        self.expect("TABLE")
        table = self.absent() + self.table()
        if self.skip("LIKE"):
            return f"CREATE TABLE {table} LIKE {self.table()}"
        if self.skip("( LIKE"):
            statement = f"CREATE TABLE {table} LIKE {self.table()}"
            self.expect(")")
            return statement
        definitions = ",".join(self.definitions())
        self.name_indexes_of_new_table()
        parts = [f"CREATE TABLE {table} ({definitions})", *self.table_options()]
        if self.next_is("PARTITION"):
            parts.append(self.partitioning())
        return " ".join(parts)

    def definitions(self) -> list[str]:
        """Reads the columns and constraints of a table in brackets, and returns each as TiDB prints
        it, the columns first.
        """
        self.expect("(")
        columns: list[str] = []
        constraints: list[str] = []
        while True:
            if constraint := self.constraint():
                constraints.append(constraint)
            else:
                columns.append(self.column())
            if not self.skip(","):
                break
        self.expect(")")
        return columns + constraints

    def sequence(self) -> str:
        """Reads the options of a CREATE SEQUENCE, and returns them as TiDB prints them."""
        options = ""
        while not self.ended and not self.next_is(";"):
            if words := self.option(
                "INCREMENT BY", "INCREMENT", "START WITH", "START", "MINVALUE", "MAXVALUE", "CACHE"
            ):
                words = {"INCREMENT": "INCREMENT BY", "START": "START WITH"}.get(words, words)
                options += f" {words} {self.signed()}"
            else:
                words = self.expect(
                    "NO MINVALUE",
                    "NOMINVALUE",
                    "NO MAXVALUE",
                    "NOMAXVALUE",
                    "NOCACHE",
                    "NOCYCLE",
                    "CYCLE",
                )
                options += " " + words.replace("NOM", "NO M")
        return options

    def lock(self) -> str:
        """Reads the clauses ALGORITHM and LOCK at the end of a statement, and returns them as TiDB
        prints them; "" for those that name the default.
        """
        options = {}
        while word := self.option("ALGORITHM", "LOCK"):
            options[word] = self.expect(
                "DEFAULT", "INPLACE", "INSTANT", "COPY", "NONE", "SHARED", "EXCLUSIVE"
            )
        clauses = [
            f"{word} = {options[word]}"
            for word in ("ALGORITHM", "LOCK")
            if options.get(word, "DEFAULT") != "DEFAULT"
        ]
        return f" {' '.join(clauses)}" if clauses else ""

    def view(self) -> str:
        """Reads the rest of a CREATE VIEW, and returns the whole with all clauses that TiDB
        adds. Notes in the statement's `resolved` whether the SELECT has names of two parts: of such
        a SELECT TiDB stores a text of its own.
        """
        replace = "OR REPLACE " if self.skip("OR REPLACE") else ""
        algorithm, definer, security = "UNDEFINED", "CURRENT_USER", "DEFINER"
        if self.skip("ALGORITHM"):
            self.expect("=")
            algorithm = self.expect("UNDEFINED", "MERGE", "TEMPTABLE")
        if self.skip("DEFINER"):
            self.expect("=")
            definer = self.user()
        if self.skip("SQL SECURITY"):
            security = self.expect("DEFINER", "INVOKER")
        self.expect("VIEW")
        head = (
            f"CREATE {replace}ALGORITHM = {algorithm} DEFINER = {definer} SQL SECURITY {security}"
            f" VIEW {self.table()}"
        )
        columns = f" {self.bracketed(self.plain_name, ',')}" if self.next_is("(") else ""
        start = self.at
        query = f"{self.expect('AS')} {self.query()}"
        self.statement.resolved = any(token.text == "." for token in self.tokens[start : self.at])
        if self.skip("WITH"):
            check = self.either("CASCADED", "LOCAL")
            self.expect("CHECK OPTION")
            # CASCADED is the default, which is not printed
            query += " WITH LOCAL CHECK OPTION" if check == "LOCAL" else ""
        return f"{head}{columns} {query}"

    def user(self) -> str:
        """Reads the account of a DEFINER clause, and returns it with its parts in back quotes."""
        if self.skip("CURRENT_USER"):
            if self.skip("("):
                self.expect(")")
            return "CURRENT_USER"
        token = self.take("name", "text", "word")
        host = self.take("word", "sign").text
        if not host.startswith("@"):
            raise self.refusal()
        name = token.text.strip("`") if token.kind != "text" else unquoted(token.text)
        if host == "@":
            host_token = self.take("name", "text")
            host = "@" + (
                host_token.text.strip("`")
                if host_token.kind == "name"
                else unquoted(host_token.text)
            )
        return f"{quote(name)}@{quote(host[1:])}"

    def alter(self) -> str:
        """Reads the rest of an ALTER TABLE clause by clause, and returns the whole as TiDB prints
        it.
        """
        statement = f"ALTER TABLE {self.table()}"
        first = True
        if self.ended and not self.routed:
            raise self.refusal()
        while not self.ended and not self.next_is(";"):
            separator = " " if first or self.next in ("PARTITION", "REMOVE") else ", "
            start = self.at
            if clause := self.clause():
                statement += separator + clause
                first = False
            self.skip(",")
            if self.at == start:
                raise self.refusal()
        self.name_added_indexes()
        return statement

    def clause(self) -> str:
        """Reads one clause of ALTER TABLE, and returns it as TiDB prints it; "" where TiCDC leaves
        it out.
        """
        if self.skip("ADD"):
            return self.add_clause()
        if self.skip("MODIFY"):
            self.skip("COLUMN")
            return f"MODIFY COLUMN {self.existing()}{self.column_and_place()}"
        if self.skip("CHANGE"):
            self.skip("COLUMN")
            existing, old = self.existing(), self.name()
            clause = f"CHANGE COLUMN {existing}{old} {self.column_and_place()}"
            self.statement.renamed[self.column_name] = bare(old)
            return clause
        if self.skip("ALTER INDEX"):
            return f"ALTER INDEX {self.plain_name()} {self.expect('VISIBLE', 'INVISIBLE')}"
        if self.either("ALTER CHECK", "ALTER CONSTRAINT"):
            return f"ALTER CHECK {self.plain_name()} {self.expect('NOT ENFORCED', 'ENFORCED')}"
        if self.skip("ALTER"):
            self.skip("COLUMN")
            column = self.name()
            if self.skip("DROP DEFAULT"):
                self.statement.defaults[bare(column)] = None
                return f"ALTER COLUMN {column} DROP DEFAULT"
            self.expect("SET DEFAULT")
            default = self.statement.defaults[bare(column)] = self.set_default()
            return f"ALTER COLUMN {column} SET DEFAULT {default}"
        if self.skip("RENAME COLUMN"):
            old, to, new = self.name(), self.expect("TO"), self.name()
            self.statement.renamed[bare(new)] = bare(old)
            return f"RENAME COLUMN {old} {to} {new}"
        if self.either("RENAME INDEX", "RENAME KEY"):
            return f"RENAME INDEX {self.plain_name()} {self.expect('TO')} {self.plain_name()}"
        if self.skip("RENAME"):
            self.either("TO", "AS", "=")
            return f"RENAME AS {self.table()}"
        if self.skip("DROP"):
            return self.drop_clause()
        if words := self.either("TRUNCATE PARTITION", "REBUILD PARTITION"):
            return (
                f"{words}"
                f" {self.expect('ALL') if self.next_is('ALL') else self.listed(self.plain_name, ',')}"
            )
        if self.skip("REORGANIZE PARTITION"):
            if self.ended:
                return "REORGANIZE PARTITION"
            names = self.listed(self.plain_name, ",")
            return (
                f"REORGANIZE PARTITION {names} {self.expect('INTO')}"
                f" {self.bracketed(self.partition)}"
            )
        if self.skip("EXCHANGE PARTITION"):
            clause = (
                f"EXCHANGE PARTITION {self.plain_name()} {self.expect('WITH TABLE')} {self.table()}"
            )
            return clause + (
                " WITHOUT VALIDATION"
                if self.either("WITH VALIDATION", "WITHOUT VALIDATION")[4:7] == "OUT"
                else ""
            )
        if self.skip("COALESCE PARTITION"):
            return f"COALESCE PARTITION {self.digits()}"
        if self.next_is("PARTITION", "BY"):
            return self.partitioning()
        if self.next_is("SET", "TIFLASH"):
            return self.tiflash()
        if words := self.either(
            "REMOVE PARTITIONING", "CACHE", "NOCACHE", "ENABLE KEYS", "DISABLE KEYS"
        ):
            return words
        if self.skip("REMOVE TTL"):
            return commented("[ttl]", "REMOVE TTL")
        if self.skip("CONVERT TO"):
            self.expect("CHARACTER SET", "CHARSET", "CHAR SET")
            charset = self.expect("DEFAULT") if self.next_is("DEFAULT") else self.charset()
            collation = f" COLLATE {self.collation().upper()}" if self.skip("COLLATE") else ""
            return f"CONVERT TO CHARACTER SET {charset}{collation}"
        if word := self.option("ALGORITHM", "LOCK"):
            return (
                f"{word} ="
                f" {self.expect('DEFAULT', 'INPLACE', 'INSTANT', 'COPY', 'NONE', 'SHARED', 'EXCLUSIVE')}"
            )
        if self.option("ATTRIBUTES"):
            self.skip("DEFAULT") or self.string_literal()
            return ""  # TiCDC takes attributes for placement rules
        return self.altered_options()

    def altered_options(self) -> str:
        """Reads options of a table in an ALTER TABLE, and returns them as one clause. A character
        set with its collation is printed in words of its own.
        """
        parts: list[str] = []
        while not self.ended and self.next not in (",", ";", "PARTITION", "REMOVE"):
            parts += self.table_option()
        if (
            len(parts) == 2
            and parts[0].startswith("DEFAULT CHARACTER SET = ")
            and parts[1].startswith("DEFAULT COLLATE = ")
        ):
            return " ".join(option.removeprefix("DEFAULT ").replace(" = ", " ") for option in parts)
        return " ".join(parts)

    def set_default(self) -> str:
        """Reads the new default of a column in SET DEFAULT, and returns it as TiDB prints it: a
        literal as it is, anything else in brackets.
        """
        in_brackets = self.next_is("(")
        start = self.at
        # No operator with two operands binds as tightly as UNARY: only one operand is read.
        default = self.grouped() if in_brackets else self.expression(UNARY)
        default_tokens = self.tokens[start : self.at]
        if in_brackets:
            default_tokens = default_tokens[1:-1]
        # A literal is one token, or two with the character set before it, such as _utf8mb4 'x'.
        literal_size = 2 if default_tokens[0].text.startswith("_") else 1
        is_literal = len(default_tokens) == literal_size and (
            default_tokens[-1].kind != "word" or default in ("NULL", "TRUE", "FALSE")
        )
        return default if is_literal else f"({default})"

    def drop_clause(self) -> str:
        """Reads the rest of a DROP clause of ALTER TABLE, and returns the whole as TiDB prints it.
        Adds the name of an index to `statement.dropped_indexes`.
        """
        if self.skip("PRIMARY KEY"):
            return "DROP PRIMARY KEY"
        if self.either("INDEX", "KEY"):
            existing, name = self.existing(), self.plain_name()
            self.statement.dropped_indexes.append(bare(name))
            return f"DROP INDEX {existing}{name}"
        if self.skip("FOREIGN KEY"):
            return f"DROP FOREIGN KEY {self.existing()}{self.plain_name()}"
        if self.skip("PARTITION"):
            return f"DROP PARTITION {self.existing()}{self.listed(self.plain_name, ',')}"
        if self.either("CHECK", "CONSTRAINT"):
            return f"DROP CHECK {self.plain_name()}"
        self.skip("COLUMN")
        clause = f"DROP COLUMN {self.existing()}{self.name()}"
        self.either("RESTRICT", "CASCADE")
        return clause

    def add_clause(self) -> str:
        """Reads the rest of an ADD clause of ALTER TABLE, and returns the whole as TiDB prints
        it.
        """
        if self.skip("PARTITION"):
            head = f"ADD PARTITION {self.absent()}"
            return head + (
                f"PARTITIONS {self.digits()}"
                if self.skip("PARTITIONS")
                else self.bracketed(self.partition)
            )
        if constraint := self.constraint():
            return f"ADD {constraint}"
        self.skip("COLUMN")
        absent = self.absent()
        if not self.next_is("("):
            return f"ADD COLUMN {absent}{self.column_and_place()}"
        return f"ADD COLUMN {absent}({', '.join(self.definitions())})"

    def column_and_place(self) -> str:
        """Reads a column's definition and, if it follows, FIRST or AFTER with another column, and
        returns both as TiDB prints them.
        """
        column = self.column()
        if self.skip("FIRST"):
            return f"{column} FIRST"
        return f"{column} AFTER {self.name()}" if self.skip("AFTER") else column


__all__ = ["Statement", "parse", "restored", "unquoted"]
