"""What PostgreSQL's DDL has of its own (enums, domains, types of columns, CREATE INDEX), and where
an expression or a constraint ends, in every dialect.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from generators.model import Column, Default
from generators.sources import postgresql
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_types import (
    SERIALS,
    Unsupported,
    postgresql_default,
    postgresql_spelling,
    postgresql_type,
)

ENDS: Final = (
    *(
        "NOT",
        "NULL",
        "DEFAULT",
        "CONSTRAINT",
        "PRIMARY",
        "UNIQUE",
        "CHECK",
        "REFERENCES",
        "GENERATED",
        "COLLATE",
    ),
    *(
        "STORAGE",
        "COMPRESSION",
        "DEFERRABLE",
        "INITIALLY",
        "COMMENT",
        "INVISIBLE",
        "REF_SYSTEM_ID",
        "SRID",
        "AS",
    ),
)
"""Words that end a default, and a column type that no writer has."""

DEFERRING: Final = (
    "NOT DEFERRABLE",
    "DEFERRABLE",
    "INITIALLY DEFERRED",
    "INITIALLY IMMEDIATE",
    "NOT VALID",
    "NO INHERIT",
)
"""What may stand behind a constraint, and no message shows."""


@dataclass(slots=True)
class Domain:
    """A type that narrows another. `spelling` is that other type as SQL spells it, `nullable` is
    false with NOT NULL, `default` is the default of its columns, and `checks` are its conditions on
    VALUE.
    """

    spelling: str
    nullable: bool = True
    default: Default | None = None
    checks: list[Pending] = field(default_factory=list)


@dataclass(slots=True)
class Types:
    """The enums (their labels) and domains that the scripts made, by name without a schema."""

    enums: dict[str, tuple[str, ...]] = field(default_factory=dict)
    domains: dict[str, Domain] = field(default_factory=dict)

    def create_type(self, cursor: Cursor) -> None:
        """Reads CREATE TYPE. The labels of an enum are kept by the type's name, for the columns of
        that type. For any other type, such as a composite one or a range, a note says that its
        columns are left out.
        """
        cursor.expect("CREATE TYPE")
        name = cursor.take_names()[-1]
        if cursor.accept("AS ENUM"):
            self.enums[name] = tuple(
                item.take().text for item in cursor.take_parentheses().split_at_commas()
            )
        else:
            cursor.skip_until()
            cursor.note(0, "left out: columns of this type are left out, too")

    def add_label(self, cursor: Cursor) -> None:
        """Reads ALTER TYPE of an enum. ADD VALUE adds a label at the end, also with BEFORE or
        AFTER: labels are kept in the order in which the catalogue got them. So RENAME VALUE removes
        the old label and adds the new one at the end. RENAME TO gives the type another name, and
        OWNER TO is passed over. For any other action, or a type that is no enum, a note says that
        it is left out. Raises UsageError for a neighbour or an old label that the enum does not
        have.
        """
        cursor.expect("ALTER TYPE")
        name = cursor.take_names()[-1]
        if name in self.enums and cursor.accept("ADD VALUE"):
            cursor.accept("IF NOT EXISTS")
            label = cursor.take().text
            if cursor.accept("BEFORE", "AFTER"):
                self._take_label(cursor, name)
            self.enums[name] = tuple(dict.fromkeys([*self.enums[name], label]))
        elif name in self.enums and cursor.accept("RENAME VALUE"):
            old_label = self._take_label(cursor, name)
            cursor.expect("TO")
            other_labels = [label for label in self.enums[name] if label != old_label]
            self.enums[name] = (*other_labels, cursor.take().text)
        elif name in self.enums and cursor.accept("RENAME TO"):
            self.enums[cursor.take_name()] = self.enums.pop(name)
        elif not cursor.accept("OWNER TO"):
            cursor.skip_until()
            cursor.note(0, "left out: not understood")

    def _take_label(self, cursor: Cursor, name: str) -> str:
        """The label of the enum `name` that comes next. Raises UsageError for another word."""
        if cursor.peek().text not in self.enums[name]:
            raise cursor.expectation_error(f"a label of {name}")
        return cursor.take().text

    def create_domain(self, cursor: Cursor) -> None:
        """Reads CREATE DOMAIN and keeps the domain by its name, for columns of that type. A domain
        of another domain has the checks of both, is NOT NULL if either is, and has the other's
        default unless it has one of its own. One over an array of a domain has none of these.
        """
        cursor.expect("CREATE DOMAIN")
        name = cursor.take_names()[-1]
        cursor.accept("AS")
        parts, spelling = postgresql_spelling(cursor)
        base = self.domains.get(parts[-1])
        array = spelling[len(spelling.rstrip("[]")) :]
        new_domain = Domain(f"{base.spelling}{array}" if base else spelling)
        # The items of an array have the checks of their domain, not the array.
        if base and not array:
            new_domain = replace(base, checks=list(base.checks))
        while not cursor.done:
            start = cursor.at
            if cursor.accept("CONSTRAINT"):
                cursor.take_name()
            if cursor.accept("NOT NULL"):
                new_domain.nullable = False
            elif cursor.accept("CHECK"):
                condition_text = cursor.take_parentheses().source_text()
                new_domain.checks.append(Pending.since(cursor, start, condition_text))
            elif cursor.accept("DEFAULT"):
                new_domain.default = Default(take_expression(cursor))
            elif cursor.accept("COLLATE"):
                cursor.take_names()
            elif not cursor.accept("NULL"):
                cursor.take()
                cursor.note(start, "left out: not understood")
        self.domains[name] = new_domain


def read_postgresql_column(draft: Draft, cursor: Cursor, types: Types, name: str) -> Column:
    """Reads the type of a PostgreSQL column at the cursor, and returns the column `name` with that
    type. A serial type gives it a default and NOT NULL, a domain what the domain has; a note says
    that the domain's own type is taken. The rest of the definition is not read. Raises Unsupported
    for a type that this project does not have.
    """
    start = cursor.at
    parts, spelling = postgresql_spelling(cursor)
    domain = types.domains.get(parts[-1])
    array = spelling[len(spelling.rstrip("[]")) :]
    type = postgresql_type(f"{domain.spelling}{array}" if domain else spelling, types.enums)
    if type.name == "bit[]" and cursor.has_ahead("NOT NULL"):
        raise Unsupported("an array of bits that is NOT NULL, at which Debezium stops")
    new_column = Column(name, type)
    if parts[-1] in SERIALS and len(parts) == 1:
        new_column = replace(
            new_column,
            nullable=False,
            default=Default(f"nextval('{draft.name}_{name}_seq'::regclass)"),
        )
    if domain:
        cursor.note(start, f"taken as {domain.spelling}{array}, the type of the domain")
    if domain and not array:
        default = postgresql_default(domain.default.text, type) if domain.default else None
        new_column = replace(
            new_column, nullable=domain.nullable, default=default, declared=parts[-1]
        )
        draft.checks += [replace(check, value_column=name) for check in domain.checks]
    elif parts[:-1] not in ((), ("public",)) and type.name == "enum":
        new_column = replace(new_column, declared=".".join(parts))
    elif domain:
        new_column = replace(new_column, declared=f"{parts[-1]}{array}")
    return new_column


def take_expression(cursor: Cursor) -> str:
    """Takes the words of an expression, up to a word that cannot continue one, and returns their
    text.
    """
    start = cursor.at
    if cursor.next_is("("):
        cursor.take_parentheses()
    else:
        cursor.take()
    cursor.skip_until(*ENDS)
    return cursor.text_since(start)


def read_parameters(draft: Draft, cursor: Cursor) -> tuple[str, ...]:
    """Reads what may stand behind the columns of a constraint: returns the columns that INCLUDE
    adds, and skips storage and deferring, which no message shows.
    """
    included: tuple[str, ...] = ()
    while True:
        if cursor.accept("INCLUDE"):
            names = (part.take_name() for part in cursor.take_parentheses().split_at_commas())
            included = tuple(name for name in names if draft.column_name(name) is not None)
        elif cursor.next_is("WITH ("):
            cursor.take()
            cursor.take_parentheses()
        elif cursor.accept("USING INDEX TABLESPACE"):
            cursor.take()
        elif not cursor.accept(*DEFERRING):
            return included


def read_index(draft: Draft, cursor: Cursor, name: str, *, unique: bool) -> None:
    """Reads the rest of a CREATE INDEX, behind the table's name, and adds the index to the table
    that is being read (`draft`). Without a name ("") it gets the one that PostgreSQL would give it.
    An index over an expression is noted and left out. So is one with WHERE; if it is unique, it is
    noted and kept, since Debezium takes it for a key.
    """
    if cursor.accept("USING"):
        cursor.take()
    names: list[str] | None = []
    for part in cursor.take_parentheses().split_at_commas():
        column_name = part.take_name() if part.peek().kind in ("word", "quoted") else ""
        if part.next_is("(") or draft.column_name(column_name) is None:
            names = None
            break
        assert names is not None
        names.append(column_name)
    included = read_parameters(draft, cursor)
    cursor.accept("NULLS NOT DISTINCT", "NULLS DISTINCT")
    read_parameters(draft, cursor)
    if cursor.accept("TABLESPACE"):
        cursor.take()
    partial = cursor.next_is("WHERE")
    if partial:
        cursor.skip_until()
        note = "taken as no key: a unique index over some rows"
        cursor.note(0, note if unique and names else "left out: an index over some rows")
    elif names is None:
        cursor.note(0, "left out: an index over an expression")
    if names and (unique or not partial):
        used = {index.name for index in draft.indexes}
        own_name = name or postgresql.index_name(draft.name, names, "idx", used)
        draft.add_index(own_name, tuple(names), unique, partial=partial, included=included)
