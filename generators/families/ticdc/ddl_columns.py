"""Columns, indexes and constraints of statements, as TiDB's parser restores them
(ticdc#ddl-restored).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final, NamedTuple

from generators.families.ticdc.sql import NOW, UNARY, Reader, plain_text, unquoted
from generators.model import Index

_TYPES: Final = {
    **{
        name: name
        for name in (
            "TINYINT",
            "SMALLINT",
            "MEDIUMINT",
            "INT",
            "BIGINT",
            "FLOAT",
            "DOUBLE",
            "DECIMAL",
            "BIT",
            "YEAR",
        )
    },
    **{
        name: name
        for name in (
            "DATE",
            "DATETIME",
            "TIMESTAMP",
            "TIME",
            "CHAR",
            "BINARY",
            "VARCHAR",
            "VARBINARY",
            "JSON",
            "VECTOR",
        )
    },
    **{
        size + name: size + name
        for size in ("TINY", "", "MEDIUM", "LONG")
        for name in ("TEXT", "BLOB")
    },
    **dict.fromkeys(("INT1",), "TINYINT"),
    **dict.fromkeys(("INT2",), "SMALLINT"),
    **dict.fromkeys(("INT3", "MIDDLEINT"), "MEDIUMINT"),
    **dict.fromkeys(("INT4", "INTEGER"), "INT"),
    "INT8": "BIGINT",
    **dict.fromkeys(("FLOAT4",), "FLOAT"),
    **dict.fromkeys(("FLOAT8", "REAL", "DOUBLE PRECISION"), "DOUBLE"),
    **dict.fromkeys(("DEC", "NUMERIC", "FIXED"), "DECIMAL"),
    **dict.fromkeys(("CHARACTER VARYING", "CHAR VARYING", "VARCHARACTER"), "VARCHAR"),
    **dict.fromkeys(
        ("NVARCHAR", "NCHAR VARYING", "NCHAR VARCHAR", "NCHAR VARCHARACTER"), "VARCHAR"
    ),
    **{
        f"NATIONAL {words}": "VARCHAR"
        for words in ("VARCHAR", "VARCHARACTER", "CHARACTER VARYING", "CHAR VARYING")
    },
    **dict.fromkeys(("CHARACTER", "NCHAR", "NATIONAL CHARACTER", "NATIONAL CHAR"), "CHAR"),
    **dict.fromkeys(("LONG VARCHAR", "LONG"), "MEDIUMTEXT"),
    "LONG VARBINARY": "MEDIUMBLOB",
}
"""TiDB's name of each spelling of a type."""
_SPELLINGS: Final = tuple(sorted(_TYPES, key=lambda words: -len(words.split())))
"""The spellings of types, those of more words first."""
_CHARACTERS: Final = frozenset(
    {"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"}
)
"""The types that may have a character set."""
_AS_BYTES: Final = {"CHAR": "BINARY", "VARCHAR": "VARBINARY"} | {
    f"{size}TEXT": f"{size}BLOB" for size in ("TINY", "", "MEDIUM", "LONG")
}
"""The type that TiDB makes of a text type in the character set binary."""
_SERIAL: Final = "NOT NULL AUTO_INCREMENT UNIQUE KEY"
"""What TiDB prints for the options that SERIAL stands for."""
_CHARSETS: Final = ("UTF8MB4", "UTF8MB3", "UTF8", "LATIN1", "ASCII", "BINARY", "GBK", "GB18030")
"""The character sets that TiDB knows."""
_OPTIONS: Final = ("ON DELETE", "ON UPDATE")
"""The events of a foreign key, in the order in which TiDB prints them."""
_REFERENCES: Final = ("RESTRICT", "CASCADE", "SET NULL", "NO ACTION", "SET DEFAULT")
"""What a foreign key does at an event."""


def commented(feature: str, clause: str) -> str:
    """A clause that is TiDB's own in a comment that only TiDB reads; `feature` is the feature's
    name in brackets, such as `[ttl]`, or "".
    """
    return f"/*T!{feature} {clause} */"


@dataclass(slots=True)
class Statement:
    """What a DDL statement says. `text` is its SQL as TiDB prints it. `defaults` has the default of
    each column that it defines, as TiDB prints it, None for a column without one. `renamed` has the
    old name of each column that it renames, by the new name. `indexes` are those that it makes,
    `dropped_indexes` the names of those that it drops. `hidden` has the expressions of indexes, by
    the name of the hidden column that TiDB adds for each.

    `partitions` is the number of partitions that it makes, `method` how a row's partition is
    chosen, `values` what each partition is defined by. `resolved` says that a view's SELECT has
    names of two parts: of such a SELECT TiDB stores a text of its own.
    """

    text: str = ""
    defaults: dict[str, str | None] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    indexes: list[Index] = field(default_factory=list)
    dropped_indexes: list[str] = field(default_factory=list)
    hidden: dict[str, str] = field(default_factory=dict)
    partitions: int = 0
    method: str = ""
    values: list[str] = field(default_factory=list)
    resolved: bool = False


class ListedIndex(NamedTuple):
    """An index as a statement lists it: its own name, "" for none, and its columns and expressions
    as TiDB prints them, without lengths and directions.
    """

    name: str
    parts: tuple[str, ...]
    unique: bool
    primary: bool


def bare(name: str) -> str:
    """A name without its back quotes."""
    return name[1:-1].replace("``", "`")


@dataclass(slots=True)
class Columns(Reader):
    """Reads columns, indexes and constraints of a statement, and notes what they say in
    `statement`. `key` are the parts of the index that is being read, `column_name` is the column
    that was read last, `read_indexes` are the indexes that were read. `table_indexes` are the names
    of the indexes that the table of an ALTER TABLE has. `placement` and `ttl_off` say that TiCDC
    keeps placement rules, and that it turns TTL off.
    """

    statement: Statement = field(default_factory=Statement)
    key: list[str] = field(default_factory=list)
    column_name: str = ""
    read_indexes: list[ListedIndex] = field(default_factory=list)

    table_indexes: tuple[str, ...] = ()
    placement: bool = False
    ttl_off: bool = True

    def charset(self) -> str:
        """Reads the name of a character set, and returns it in upper case. Raises Refused for an
        unknown one.
        """
        token = self.take("word", "text")
        charset = (unquoted(token.text) if token.kind == "text" else token.text).upper()
        if charset not in _CHARSETS:
            raise self.refusal()
        return "UTF8" if charset == "UTF8MB3" else charset

    def collation(self) -> str:
        """Reads the name of a collation, and returns it in lower case."""
        token = self.take("word", "text")
        return (unquoted(token.text) if token.kind == "text" else token.text).lower()

    def clustered(self) -> str:
        """Reads CLUSTERED or NONCLUSTERED, and returns it in TiDB's comment; "" if neither
        follows.
        """
        kind = self.either("CLUSTERED", "NONCLUSTERED")
        return " " + commented("[clustered_index]", kind) if kind else ""

    def type(self) -> str:
        """Reads the type of a column, and returns it as TiDB prints it: labels of ENUM and SET
        without trailing spaces, ZEROFILL with UNSIGNED, which it implies, YEAR with neither.
        """
        if kind := self.either("BOOLEAN", "BOOL"):
            type_text, name = "TINYINT(1)", "TINYINT"
        elif name := self.either("ENUM", "SET"):
            type_text = name + self.bracketed(
                lambda: plain_text(unquoted(self.take("text").text).rstrip(" ")), ","
            )
        else:
            kind = self.expect(*_SPELLINGS)
            name = _TYPES[kind]
            type_text = (
                self.numeric(name) if name in ("FLOAT", "DOUBLE", "DECIMAL") else self.sized(name)
            )
        flags = {"ZEROFILL": False, "UNSIGNED": False}
        while flag := self.either("UNSIGNED", "SIGNED", "ZEROFILL"):
            flags[flag] = True
        if name == "YEAR":
            return type_text
        type_text += " UNSIGNED" if flags["UNSIGNED"] or flags["ZEROFILL"] else ""
        type_text += " ZEROFILL" if flags["ZEROFILL"] else ""
        return self.characters(name, type_text) if name in _CHARACTERS else type_text

    def numeric(self, name: str) -> str:
        """Reads the parameters of a FLOAT, DOUBLE or DECIMAL (`name`), and returns the type that
        they give: a FLOAT(p) is a DOUBLE with more than 24 bits, and p is not printed. Refuses
        DOUBLE(p).
        """
        if not self.next_is("("):
            return name
        arguments = self.bracketed(self.digits, ",")
        if "," in arguments or name == "DECIMAL":
            return name + arguments
        if name == "DOUBLE":
            raise self.refusal()
        return "DOUBLE" if int(arguments[1:-1]) > 24 else "FLOAT"

    def sized(self, name: str) -> str:
        """Reads the length or the fraction digits behind the type `name`, if they follow, and
        returns the type with them; of a VECTOR also its `<FLOAT>`, which is not printed. BIT
        without a length gets TiDB's default. Raises Refused for a VARCHAR or VARBINARY without a
        length.
        """
        if name == "VECTOR" and self.skip("<"):
            self.expect("FLOAT")
            self.expect(">")
        if self.next_is("("):
            return name + self.bracketed(self.digits, ",")
        if name in ("VARCHAR", "VARBINARY"):
            raise self.refusal()
        return "BIT(1)" if name == "BIT" else name

    def characters(self, name: str, type_text: str) -> str:
        """Reads the character set behind a type that may have one, and returns the type, which so
        far is `type_text`, with it. In the character set binary the type is a BLOB or BINARY.
        """
        binary = bool(self.skip("BINARY"))
        charset = ""
        if self.either("CHARACTER SET", "CHARSET", "CHAR SET"):
            charset = self.charset()
        elif word := self.either("ASCII", "BYTE"):
            charset = {"ASCII": "LATIN1", "BYTE": "BINARY"}[word]
        binary = self.skip("BINARY") or binary
        if charset == "BINARY":
            if name not in _AS_BYTES:
                return type_text
            return type_text.replace(name, _AS_BYTES[name], 1)
        return (
            type_text
            + (" BINARY" if binary else "")
            + (f" CHARACTER SET {charset}" if charset and name not in ("ENUM", "SET") else "")
        )

    def column(self) -> str:
        """Reads a column's name, type and options, notes the column's default, and returns them as
        TiDB prints them.
        """
        name = self.name()
        self.column_name = bare(name)
        self.statement.defaults[self.column_name] = None
        options: list[str] = []
        if self.skip("SERIAL"):
            kind, options = "BIGINT UNSIGNED", [_SERIAL]
        else:
            kind = self.type()
        while not (self.ended or self.next in (",", ")", "FIRST", "AFTER", ";")):
            options.append(self.column_option())
        solid = any(option.startswith(("NOT NULL", "PRIMARY KEY")) for option in options)
        if solid and kind.startswith("YEAR") and self.statement.defaults[self.column_name] is None:
            self.statement.defaults[self.column_name] = (
                "'0000'"  # TiDB gives it (ticdc#year-default)
            )
        return " ".join((name, kind, *options))

    def column_option(self) -> str:
        """Reads one option of a column, and returns it as TiDB prints it. Raises Refused for an
        unknown one.
        """
        if words := self.either("NOT NULL", "NULL", "AUTO_INCREMENT"):
            return words
        if self.skip("SERIAL DEFAULT VALUE"):
            return _SERIAL
        if self.either("PRIMARY KEY", "KEY"):
            return f"PRIMARY KEY{self.clustered()}"
        if self.either("UNIQUE KEY", "UNIQUE"):
            return "UNIQUE KEY"
        if self.skip("DEFAULT"):
            default = self.statement.defaults[self.column_name] = self.default()
            return f"DEFAULT {default}"
        if self.skip("ON UPDATE"):
            self.expect(*NOW)
            return f"ON UPDATE {self.now(self.next_is('('))}"
        if self.skip("COMMENT"):
            return f"COMMENT {self.value()}"
        if self.skip("COLLATE"):
            return f"COLLATE {self.collation()}"
        if self.skip("AUTO_RANDOM"):
            bits = self.bracketed(self.digits, ", ") if self.next_is("(") else ""
            return commented("[auto_rand]", f"AUTO_RANDOM{bits}")
        if words := self.either("COLUMN_FORMAT", "STORAGE"):
            return f"{words} {self.expect('DEFAULT', 'FIXED', 'DYNAMIC', 'DISK', 'MEMORY')}"
        if self.next_is("REFERENCES"):
            return self.references(self.name)  # no visitor comes here (ticdc#table-routing)
        if self.next in ("CONSTRAINT", "CHECK"):
            return self.check()
        if self.either("GENERATED ALWAYS AS", "AS"):
            kind = f"GENERATED ALWAYS AS{self.bracketed(self.expression)}"
            return kind + (
                " STORED" if self.either("STORED", "VIRTUAL") == "STORED" else " VIRTUAL"
            )
        raise self.refusal()

    def default(self) -> str:
        """Reads a column's default, and returns it as TiDB prints it: only the call of a function
        stands in brackets. The default is a literal, CURRENT_TIMESTAMP or an expression in
        brackets. Raises Refused for the next number of a sequence (NEXT VALUE FOR).
        """
        depth = 0
        while self.skip("("):
            depth += 1
        if not depth and self.either(*NOW):
            return self.now(self.next_is("("))
        if self.next_is("NEXT"):
            raise self.refusal()
        # No operator with two operands binds as tightly as UNARY: only one operand is read.
        default = self.expression(0 if depth else UNARY)
        for _ in range(depth):
            self.expect(")")
        name, _, arguments = default.partition("(")
        if depth and name in NOW and arguments.endswith(")"):
            return f"CURRENT_TIMESTAMP({arguments}"
        default = "CURRENT_DATE()" if default == "CURDATE()" else default
        return f"({default})" if _is_call(default) else default

    def check(self) -> str:
        """Reads a CHECK, and returns it as TiDB prints it, always with ENFORCED or NOT ENFORCED."""
        name = (
            f"CONSTRAINT {self.plain_name()} "
            if self.skip("CONSTRAINT") and not self.next_is("CHECK")
            else ""
        )
        self.expect("CHECK")
        clause = f"{name}CHECK{self.bracketed(self.expression)}"
        is_enforced = self.either("NOT ENFORCED", "ENFORCED") != "NOT ENFORCED"
        return f"{clause} {'ENFORCED' if is_enforced else 'NOT ENFORCED'}"

    def references(self, table: Callable[[], str]) -> str:
        """Reads the clause REFERENCES of a foreign key, and returns it as TiDB prints it; `table`
        is called to read the name of the parent table.
        """
        clause = f"{self.expect('REFERENCES')} {table()}{self.parts()}"
        if self.skip("MATCH"):
            clause += f" MATCH {self.expect('FULL', 'PARTIAL', 'SIMPLE')}"
        actions = {}
        while event := self.either(*_OPTIONS):
            actions[event] = self.expect(*_REFERENCES)
        return clause + "".join(
            f" {event} {actions[event]}" for event in _OPTIONS if event in actions
        )

    def parts(self) -> str:
        """Reads the list of an index's columns and expressions, with its brackets, and returns it
        as TiDB prints it. `self.key` then has the same columns and expressions, without lengths and
        directions, in place of those of the index before.
        """
        self.key.clear()
        return self.bracketed(self.part)

    def part(self) -> str:
        """Reads one column or expression of an index, and returns it as TiDB prints it. Adds it to
        `self.key` without what may follow: a prefix length, ASC or DESC.
        """
        key_part = f"({self.grouped()})" if self.next_is("(") else self.name()
        self.key.append(key_part)
        if self.next_is("("):
            key_part += self.bracketed(self.digits)
        return key_part + (" DESC" if self.either("ASC", "DESC") == "DESC" else "")

    def grouped(self) -> str:
        """Reads an expression in brackets, and returns it without them."""
        self.expect("(")
        expression = self.expression()
        self.expect(")")
        return expression

    def index_options(self, before: str = "") -> str:
        """Reads the options of an index, and returns them in the one order in which TiDB prints
        them. `before` is the USING clause that stood before the columns, "" for none.
        """
        options = {"USING": before}
        while True:
            if kind := self.either("CLUSTERED", "NONCLUSTERED"):
                options["CLUSTERED"] = commented("[clustered_index]", kind)
            elif self.option("KEY_BLOCK_SIZE"):
                options["KEY_BLOCK_SIZE"] = f"KEY_BLOCK_SIZE={self.digits()}"
            elif self.either("USING", "TYPE"):
                options["USING"] = f"USING {self.expect('BTREE', 'HASH', 'RTREE', 'HNSW')}"
            elif self.skip("WITH PARSER"):
                options["PARSER"] = f"WITH PARSER {self.plain_name()}"
            elif self.skip("COMMENT"):
                options["COMMENT"] = f"COMMENT {self.string_literal()}"
            elif kind := self.either("GLOBAL", "LOCAL"):
                options["GLOBAL"] = (
                    options.get("GLOBAL", "")
                    if kind == "LOCAL"
                    else commented("[global_index]", "GLOBAL")
                )
            elif kind := self.either("VISIBLE", "INVISIBLE"):
                options["VISIBLE"] = kind
            else:
                break
        order = ("CLUSTERED", "KEY_BLOCK_SIZE", "USING", "PARSER", "COMMENT", "GLOBAL", "VISIBLE")
        return "".join(
            f" {options[name]}"
            for name in order
            if options.get(name) and options[name] != "COMMENT ''"
        )

    def constraint(self) -> str:
        """Reads an index or a constraint of a table and returns it as TiDB prints it; "" if none
        follows, with nothing read. An index is listed.
        """
        name = ""
        start = self.at
        if self.skip("CONSTRAINT") and self.next not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            name = f"{self.plain_name()} "
        if self.next_is("CHECK"):
            self.at = start
            return self.check()
        if self.skip("PRIMARY KEY"):
            return self.indexed("PRIMARY KEY", name.strip())
        if self.skip("FOREIGN KEY"):
            absent = "IF NOT EXISTS " if self.skip("IF NOT EXISTS") else ""
            if not self.next_is("("):
                name = name or f"{self.plain_name()} "
            return (
                f"CONSTRAINT {name}FOREIGN KEY {absent}{self.parts()} {self.references(self.table)}"
            )
        if self.skip("UNIQUE"):
            self.either("KEY", "INDEX")
            return self.indexed("UNIQUE", name.strip())
        if kind := self.either("FULLTEXT"):
            self.either("KEY", "INDEX")
            return self.indexed(kind, "")
        if self.either("KEY", "INDEX"):
            return self.indexed(
                "INDEX" + (" IF NOT EXISTS" if self.skip("IF NOT EXISTS") else ""), ""
            )
        self.at = start
        return ""

    def indexed(self, kind: str, name: str) -> str:
        """Reads the name, columns and options of an index, whose words such as `PRIMARY KEY`
        (`kind`) have been read, and lists the index. Returns the whole as TiDB prints it. `name` is
        the constraint's name, which wins over the index's own, "" for none.
        """
        using = ""
        if self.next not in ("(", "USING", "TYPE"):
            own_name = self.plain_name()
            name = name or own_name
        if self.either("USING", "TYPE"):
            using = f"USING {self.expect('BTREE', 'HASH', 'RTREE')}"
        parts = self.parts()
        self.list_index(
            bare(name) if name else "", kind.startswith("UNIQUE"), kind == "PRIMARY KEY"
        )
        return f"{kind}{f' {name}' if name else ''}{parts}{self.index_options(using)}"

    def list_index(self, name: str, unique: bool, primary: bool = False) -> None:
        """Lists an index of the columns and expressions in `self.key`, "" for one without a name."""
        self.read_indexes.append(ListedIndex(name, tuple(self.key), unique, primary))

    def name_indexes_of_new_table(self) -> None:
        """Adds the indexes that a CREATE TABLE lists to those of the statement. One without a name
        gets that of its first column, or `expression_index` if one of its parts is an expression,
        with a number from 2 on where an index that stands before it, or one with a name of its own,
        has it. TiDB compares names as they are spelled, those of their own in lower case. A PRIMARY
        KEY counts among them with such a name, though it is called PRIMARY.
        """
        used_names = {index.name.lower() for index in self.read_indexes if index.name}
        for index in self.read_indexes:
            has_expression = any(part[0] == "(" for part in index.parts)
            plain_name = "expression_index" if has_expression else bare(index.parts[0])
            name = index.name or free_name(plain_name, used_names.__contains__)
            used_names.add(name)
            self.add_index(name, index)

    def name_added_indexes(self) -> None:
        """Adds the indexes of an ALTER TABLE, or of a CREATE INDEX, to those of the statement. One
        without a name gets that of its first part, with a number from 2 on where an index of the
        table has it.
        """
        used_names = {name.lower() for name in self.table_indexes}
        for index in self.read_indexes:
            first = index.parts[0]
            plain_name = "expression_index" if first[0] == "(" else bare(first)
            name = index.name or free_name(plain_name, lambda name: name.lower() in used_names)
            self.add_index(name, index)

    def add_index(self, name: str, listed: ListedIndex) -> None:
        """Adds an index with this name to those of the statement: a primary one is called PRIMARY.
        For each expression TiDB adds a hidden column, which is added to `hidden` of the statement.
        """
        name = "PRIMARY" if listed.primary else name
        columns = []
        for place, part in enumerate(listed.parts):
            columns.append(bare(part) if part[0] == "`" else f"_V$_{name}_{place}")
            if part[0] != "`":
                self.statement.hidden[columns[-1]] = part[1:-1]
        unique = listed.unique or listed.primary
        self.statement.indexes.append(Index(name, tuple(columns), unique))


def free_name(plain_name: str, is_used: Callable[[str], bool]) -> str:
    """The name that TiDB gives an index without one: `plain_name`, with the first number from 2 on
    that makes it free. PRIMARY is never free.
    """
    names = chain([plain_name], (f"{plain_name}_{number}" for number in count(2)))
    return next(name for name in names if name.lower() != "primary" and not is_used(name))


def _is_call(expression: str) -> bool:
    """Whether an expression is a call of a function and nothing else."""
    name, bracket, arguments = expression.partition("(")
    if not bracket or not name.isidentifier() or name == "CAST":
        return False
    depth, quoted = 1, False
    for at, sign in enumerate(arguments):
        quoted ^= sign == "'"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if depth == 0:
            return at == len(arguments) - 1
    return False
