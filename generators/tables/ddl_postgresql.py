"""DDL of PostgreSQL: pg_dump, and statements by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from generators.model import Column, Default
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_types import SERIALS, UNDRAWN, Unsupported, postgresql_default, postgresql_spelling, postgresql_type
from generators.tables.schema import ForeignKey, Place

_ENDS: Final = (
    *("NOT", "NULL", "DEFAULT", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "GENERATED", "COLLATE"),
    *("STORAGE", "COMPRESSION", "DEFERRABLE", "INITIALLY"),
)
"""Words that end a default, and a column type that no writer has."""

_CONSTRAINTS: Final = ("PRIMARY KEY", "UNIQUE (/NULLS/USING", "CHECK (", "FOREIGN KEY", "EXCLUDE (/USING", "CONSTRAINT", "LIKE")
_DEFERRING: Final = ("NOT DEFERRABLE", "DEFERRABLE", "INITIALLY DEFERRED", "INITIALLY IMMEDIATE", "NOT VALID", "NO INHERIT")


@dataclass(slots=True)
class Domain:
    """A type that narrows another; `checks` are its conditions on VALUE."""

    spelling: str
    nullable: bool = True
    default: Default | None = None
    checks: list[Pending] = field(default_factory=list)


@dataclass(slots=True)
class Types:
    """The enums and domains of the scripts by their last name."""

    enums: dict[str, tuple[str, ...]] = field(default_factory=dict)
    domains: dict[str, Domain] = field(default_factory=dict)

    def enum(self, cursor: Cursor) -> None:
        """CREATE TYPE."""
        cursor.expect("CREATE TYPE")
        name = cursor.names()[-1]
        if cursor.accept("AS ENUM"):
            self.enums[name] = tuple(item.take().text for item in cursor.parens().items())
        else:
            cursor.until()
            cursor.note(0, "left out: tables with a column of this type are left out, too")

    def label(self, cursor: Cursor) -> None:
        """ALTER TYPE ... ADD VALUE."""
        cursor.expect("ALTER TYPE")
        name = cursor.names()[-1]
        if name in self.enums and cursor.accept("ADD VALUE"):
            cursor.accept("IF NOT EXISTS")
            labels, label = list(self.enums[name]), cursor.take().text
            where = cursor.accept("BEFORE", "AFTER")
            at = len(labels)
            if where:
                beside = cursor.peek()
                if beside.text not in labels:
                    raise cursor.wrong(f"a label of {name}")
                at = labels.index(cursor.take().text) + (where == "AFTER")
            self.enums[name] = tuple(dict.fromkeys([*labels[:at], label, *labels[at:]]))
        elif not cursor.accept("OWNER TO"):
            cursor.until()
            cursor.note(0, "left out: not understood")

    def domain(self, cursor: Cursor) -> None:
        """CREATE DOMAIN."""
        cursor.expect("CREATE DOMAIN")
        name = cursor.names()[-1]
        cursor.accept("AS")
        parts, spelling = postgresql_spelling(cursor)
        base = self.domains.get(parts[-1])
        made = Domain(base.spelling if base else spelling, base.nullable if base else True)
        made.checks += base.checks if base else []
        while not cursor.done:
            start = cursor.at
            if cursor.accept("CONSTRAINT"):
                cursor.name()
            if cursor.accept("NOT NULL"):
                made.nullable = False
            elif cursor.accept("CHECK"):
                text = cursor.parens().text()
                made.checks.append(_pending(cursor, start, text))
            elif cursor.accept("DEFAULT"):
                begin = cursor.at
                _expression(cursor)
                made.default = Default(cursor.since(begin))
            elif cursor.accept("COLLATE"):
                cursor.names()
            elif not cursor.accept("NULL"):
                cursor.take()
                cursor.note(start, "left out: not understood")
        self.domains[name] = made


def definition(draft: Draft, cursor: Cursor, types: Types, home: Place) -> None:
    """Reads what follows the table's name in CREATE TABLE; names without database and schema are in those of `home`."""
    if cursor.next_is("PARTITION OF") or cursor.accept("OF"):
        cursor.until()
        cursor.note(0, f"table {draft.name} left out: its columns are another table's or a type's")
        draft.left_out = True
        return
    for item in cursor.parens().items():
        if any(map(item.next_is, _CONSTRAINTS)):
            constraint(draft, item, home)
        else:
            column(draft, item, types, home)
    while not cursor.done:
        start = cursor.at
        if cursor.accept("INHERITS"):
            cursor.parens()
            cursor.note(start, f"table {draft.name} left out: some of its columns are another table's")
            draft.left_out = True
        elif cursor.accept("PARTITION BY"):
            cursor.until("WITH", "TABLESPACE", "USING")
            cursor.note(start, "left out: the table is taken without partitions")
        elif cursor.accept("WITH", "ON COMMIT"):
            cursor.until("TABLESPACE", "USING")
        elif cursor.accept("TABLESPACE", "USING", "WITHOUT"):
            cursor.take()
        else:
            cursor.until()
            cursor.note(start, "left out: not understood")


def column(draft: Draft, cursor: Cursor, types: Types, home: Place) -> None:
    """A column's definition."""
    name = cursor.name()
    if draft.column_name(name, folded=False):
        raise cursor.script.error(cursor.words[0].start, f"column {name} is defined twice")
    start = cursor.at
    made = _typed(draft, cursor, types, name)
    if made is None:
        cursor.until(*_ENDS)
        cursor.note(start, f"table {draft.name} {UNDRAWN}")
        draft.left_out = True
        cursor.at = len(cursor.words)
        return
    draft.columns.append(made)
    while not cursor.done:
        start = cursor.at
        named = cursor.name() if cursor.accept("CONSTRAINT") else ""
        if cursor.accept("NOT NULL"):
            made = replace(made, nullable=False)
        elif cursor.accept("DEFAULT"):
            begin = cursor.at
            _expression(cursor)
            made = replace(made, default=postgresql_default(cursor.since(begin), made.type))
        elif cursor.accept("COLLATE"):
            made = replace(made, collation=cursor.names()[-1])
        elif cursor.accept("PRIMARY KEY"):
            draft.primary = (name,)
            _parameters(cursor)
        elif cursor.accept("UNIQUE"):
            cursor.accept("NULLS NOT DISTINCT", "NULLS DISTINCT")
            _parameters(cursor)
            draft.index(named or f"{draft.name}_{name}_key", (name,), unique=True)
        elif cursor.next_is("CHECK"):
            _check(draft, cursor, start)
        elif cursor.accept("REFERENCES"):
            _reference(draft, cursor, (name,), start, home)
        elif cursor.accept("GENERATED ALWAYS AS IDENTITY", "GENERATED BY DEFAULT AS IDENTITY"):
            made = replace(made, nullable=False)
            if cursor.next_is("("):
                cursor.parens()
        elif cursor.accept("GENERATED ALWAYS AS"):
            expression = cursor.parens().text()
            made = replace(made, generated="virtual" if cursor.accept("STORED", "VIRTUAL") == "VIRTUAL" else "stored")
            draft.generated[name] = Pending.since(cursor, start, expression)
        elif cursor.accept("STORAGE", "COMPRESSION"):
            cursor.take()
        elif not cursor.accept("NULL", *_DEFERRING):
            cursor.take()
            cursor.note(start, "left out: not understood")
    draft.columns[-1] = made


def _typed(draft: Draft, cursor: Cursor, types: Types, name: str) -> Column | None:
    """A column of the type that comes next, None if no writer has it."""
    start = cursor.at
    parts, spelling = postgresql_spelling(cursor)
    domain = types.domains.get(parts[-1])
    array = spelling[len(spelling.rstrip("[]")) :]
    try:
        type = postgresql_type(f"{domain.spelling}{array}" if domain else spelling, types.enums)
    except Unsupported:
        cursor.at = start
        return None
    made = Column(name, type)
    if parts[-1] in SERIALS and len(parts) == 1:
        made = replace(made, nullable=False, default=Default(f"nextval('{draft.name}_{name}_seq'::regclass)"))
    if domain:
        cursor.note(start, f"taken as {domain.spelling}{array}, the type of the domain")
    if domain and not array:
        given = postgresql_default(domain.default.text, type) if domain.default else None
        made = replace(made, nullable=domain.nullable, default=given)
        draft.checks += [replace(check, value_column=name) for check in domain.checks]
    return made


def _expression(cursor: Cursor) -> None:
    """Takes an expression up to a word with which no expression continues."""
    if cursor.next_is("("):
        cursor.parens()
    else:
        cursor.take()
    cursor.until(*_ENDS)


def constraint(draft: Draft, cursor: Cursor, home: Place) -> None:
    """A key, a foreign key or a CHECK of a table."""
    start = cursor.at
    name = cursor.name() if cursor.accept("CONSTRAINT") else ""
    if cursor.accept("PRIMARY KEY"):
        if cursor.accept("USING INDEX"):
            index = cursor.name()
            draft.primary = next((i.columns for i in draft.indexes if i.name == index), ())
            draft.indexes = [i for i in draft.indexes if i.name != index]
        else:
            draft.primary = _columns(draft, cursor, start) or ()
    elif cursor.accept("UNIQUE"):
        cursor.accept("NULLS NOT DISTINCT", "NULLS DISTINCT")
        if cursor.accept("USING INDEX"):
            cursor.name()
        elif columns := _columns(draft, cursor, start):
            draft.index(name or f"{draft.name}_{'_'.join(columns)}_key", columns, unique=True)
    elif cursor.accept("FOREIGN KEY"):
        columns = _columns(draft, cursor, start)
        cursor.expect("REFERENCES")
        _reference(draft, cursor, columns or (), start, home)
    elif cursor.next_is("CHECK"):
        _check(draft, cursor, start)
    elif cursor.accept("LIKE"):
        cursor.until()
        cursor.note(start, f"table {draft.name} left out: some of its columns are another table's")
        draft.left_out = True
    else:
        cursor.until()
        cursor.note(start, "left out: values do not honour it")
    _parameters(cursor)
    if not cursor.done:
        at = cursor.at
        cursor.until()
        cursor.note(at, "left out: not understood")


def _columns(draft: Draft, cursor: Cursor, start: int) -> tuple[str, ...] | None:
    """The columns of a key; None, and a note, if one is an expression."""
    columns: list[str] = []
    for part in cursor.parens().items():
        at = part.peek()
        if part.next_is("(") or part.peek(1).upper == "(":
            cursor.until()
            cursor.note(start, "left out: an index over an expression")
            return None
        name = part.name()
        if draft.column_name(name, folded=False) is None:
            if draft.left_out:
                return None
            raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
        columns.append(name)
    return tuple(columns)


def _parameters(cursor: Cursor) -> None:
    """Skips what a constraint has beside its columns; no message shows it."""
    while True:
        if cursor.accept("INCLUDE", "WITH"):
            cursor.parens()
        elif cursor.accept("USING INDEX TABLESPACE"):
            cursor.take()
        elif not cursor.accept(*_DEFERRING):
            return


def _check(draft: Draft, cursor: Cursor, start: int) -> None:
    cursor.expect("CHECK")
    text = cursor.parens().text()
    draft.checks.append(_pending(cursor, start, text))


def _pending(cursor: Cursor, start: int, text: str) -> Pending:
    return Pending(cursor.script, cursor.words[start].start, cursor.words[cursor.at - 1].end, text)


def _reference(draft: Draft, cursor: Cursor, columns: tuple[str, ...], start: int, home: Place) -> None:
    """The parent of a foreign key, and what happens to children."""
    *qualifier, parent = cursor.names()
    parents = tuple(part.name() for part in cursor.parens().items()) if cursor.next_is("(") else ()
    actions = cursor.at
    while event := cursor.accept("ON DELETE", "ON UPDATE", "MATCH"):
        if event == "MATCH":
            cursor.take()
        else:
            cursor.accept("CASCADE", "RESTRICT", "SET NULL", "SET DEFAULT", "NO ACTION")
            if cursor.next_is("("):
                cursor.parens()
    acts = cursor.since(actions)
    if "CASCADE" in acts.upper() or "SET" in acts.upper():
        cursor.note(actions, "left out: no history relies on it")
    place = (home[0], qualifier[-1] if qualifier else home[1], parent)
    if columns:
        draft.foreign.append((ForeignKey(columns, place, parents), _pending(cursor, start, "")))


def altered(draft: Draft, cursor: Cursor, types: Types, home: Place) -> None:
    """The actions of ALTER TABLE."""
    for action in cursor.items():
        if action.accept("ADD"):
            if not action.accept("COLUMN") and any(map(action.next_is, _CONSTRAINTS)):
                constraint(draft, action, home)
            else:
                action.accept("IF NOT EXISTS")
                column(draft, action, types, home)
        elif action.accept("ALTER"):
            action.accept("COLUMN")
            _altered_column(draft, action)
        elif action.accept("REPLICA IDENTITY"):
            # NOTHING leaves updates and deletes without a before image
            if not action.accept("DEFAULT"):
                action.until()
                action.note(0, "left out: the option image of a writer's profile says what a before image holds")
        elif action.accept("OWNER TO", "CLUSTER ON", "SET", "ENABLE", "DISABLE", "NO FORCE", "FORCE", "VALIDATE", "RESET"):
            action.until()
        elif action.accept("ATTACH PARTITION"):
            action.until()
            action.note(0, "left out: values do not honour the bounds of partitions")
        elif action.accept("DROP COLUMN IF EXISTS", "DROP COLUMN", "DROP") and action.peek().text in (
            c.name for c in draft.columns
        ):
            draft.drop(action.name())
            action.accept("CASCADE", "RESTRICT")
        else:
            action.until()
            action.note(0, f"table {draft.name} left out: not understood")
            draft.left_out = True


def _altered_column(draft: Draft, cursor: Cursor) -> None:
    at, name = cursor.peek(), cursor.name()
    known = next((c for c in draft.columns if c.name == name), None)
    if known is None:
        raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
    if cursor.accept("SET DEFAULT"):
        begin = cursor.at
        cursor.until()
        draft.change(name, default=postgresql_default(cursor.since(begin), known.type))
    elif cursor.accept("SET NOT NULL"):
        draft.change(name, nullable=False)
    elif cursor.accept("DROP NOT NULL"):
        draft.change(name, nullable=True)
    elif cursor.accept("DROP DEFAULT"):
        draft.change(name, default=None)
    elif cursor.accept("ADD GENERATED"):
        cursor.until()
        draft.change(name, nullable=False)
    elif cursor.accept("SET STORAGE", "SET STATISTICS", "SET COMPRESSION", "SET (", "RESET"):
        cursor.until()
    else:
        cursor.until()
        cursor.note(0, f"table {draft.name} left out: not understood")
        draft.left_out = True


def index(draft: Draft, cursor: Cursor, name: str, *, unique: bool) -> None:
    """Reads what follows the table's name in CREATE INDEX."""
    if cursor.accept("USING"):
        cursor.take()
    found: list[str] | None = []
    for part in cursor.parens().items():
        known = part.name() if part.peek().kind in ("word", "quoted") else ""
        if part.next_is("(") or draft.column_name(known, folded=False) is None:
            found = None
            break
        assert found is not None
        found.append(known)
    cursor.accept("NULLS NOT DISTINCT", "NULLS DISTINCT")
    _parameters(cursor)
    if cursor.next_is("WHERE"):
        cursor.until()
        cursor.note(0, "left out: an index over some rows")
    elif found is None:
        cursor.note(0, "left out: an index over an expression")
    else:
        draft.index(name, tuple(found), unique)
