"""Connect JSON cells as typed Spark expressions (the pages debezium and connect of the sources).

A cell has a *form*: what its JSON stands for, whatever the column is. The schema in a message tells
it (`form_of`); without one it follows from the connector's options and the source type
(`default_form`). Vendors redact packages, so a logical type's name is known by its last part alone:
`com.xxx.cdc.data.Decimal` of type string is text, Debezium's of type bytes is base64.

| form | JSON |
|---|---|
| text | a string: digits, an ISO or SQL date, a label |
| number, double | a number; `double` where it may have lost digits |
| boolean | true or false |
| decimal | base64 of the unscaled value: two's complement, big-endian; the scale stands in the schema |
| variable | `{"scale": 2, "value": base64}` |
| bits | base64, little-endian, padded to the declared width or trimmed to the highest bit |
| base64, base64-url-safe, hex | bytes |
| days, ms, us, ns | whole units since 1970-01-01, or of a time |
| numeric | a decimal as a number (`decimal.format=NUMERIC`) |
| parts | `{"year": 2024, "month": 2, "day": 29}`: a struct of a date's or time's parts |

Like `families.mysql`, this gives SQL text; nothing in it raises, or depends on session time zone,
ANSI mode or case sensitivity. It is to be evaluated inside a lambda (`rows` says why). A value that
does not fit is NULL, or `misfit` reports it.
"""

from __future__ import annotations

from typing import Final

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.families.connect.decimals import (
    base64_bytes,
    from_double,
    from_numeric,
    from_text,
)
from spark_checks.decoders.families.connect.parts import (
    date_of_parts,
    instant_of_parts,
    micros_of_parts,
    wall_clock_of_parts,
)
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import let

UNAVAILABLE: Final = "__debezium_unavailable_value"
"""What stands for a TOASTed value that did not change (debezium#unavailable-value)."""

_POSTGRESQL: Final = "postgresql"
_SQLSERVER: Final = "sqlserver"
_ORACLE: Final = "oracle"
_FINE: Final = (_SQLSERVER, _ORACLE)
"""Sources whose dates and times may be finer than microseconds."""
_FIRST_DAY: Final = -719_162
_LAST_DAY: Final = 2_932_896
"""The days 0001-01-01 and 9999-12-31, counted from 1970-01-01."""
_DAY: Final = 86_400_000_000
"""The microseconds of a day."""
_EPOCH: Final = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_MYSQL_TIME_END: Final = (838 * 3600 + 59 * 60 + 60) * 1_000_000
"""The microseconds of 839 hours, which MySQL's TIME stays below in both directions."""
_ZERO_DATE: Final = r"^(0000-\d\d-\d\d|\d{4}-00-\d\d|\d{4}-\d\d-00)([ T]|\z)"
_OFFSET: Final = r"(Z|[+-]\d\d:\d\d)"
"""The end of a text of an instant: Z, or the distance from UTC."""
_STAMP: Final = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6}0{0,3})?"
_FINE_STAMP: Final = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?"
"""Texts of SQL Server's types may have seven fraction digits, of Oracle's nine: Spark takes six."""
_FINE_CLOCK: Final = r"^\d\d:[0-5]\d:[0-5]\d(\.\d{1,9})?Z?\z"
_CLOCK: Final = r"^-?\d{2,3}:[0-5]\d:[0-5]\d(\.\d{1,6}0{0,3})?Z?\z"

_BY_NAME: Final = {
    "Date": "days",
    "Time": "ms",
    "MicroTime": "us",
    "NanoTime": "ns",
    "Timestamp": "ms",
    "MicroTimestamp": "us",
    "NanoTimestamp": "ns",
    "MicroDuration": "us",
}
"""The form of an integer cell, by the last part of its schema's name."""
_BY_TYPE: Final = {
    "string": "text",
    "boolean": "boolean",
    "float": "double",
    "double": "double",
}
"""The form of a cell by the type of its schema, for types that need no name."""


def form_by_schema(kind: str, name: str) -> str:
    """SQL of the form in which a column's cells are written (such as text, base64 or days), as the
    schema in the message tells it. `kind` is the SQL of the schema's type, `name` that of its name;
    either may be NULL.
    """
    last = f"substring_index({name}, '.', -1)"
    integers = " ".join(f"WHEN '{n}' THEN '{form_name}'" for n, form_name in _BY_NAME.items())
    types = " ".join(f"WHEN '{t}' THEN '{form_name}'" for t, form_name in _BY_TYPE.items())
    as_bytes = (
        f"CASE {last} WHEN 'Decimal' THEN 'decimal' WHEN 'Bits' THEN 'bits' ELSE 'base64' END"
    )
    as_struct = f"CASE WHEN {last} LIKE 'Structured%' THEN 'parts' ELSE 'variable' END"
    as_integer = f"coalesce(CASE {last} {integers} END, 'number')"
    return (
        f"CASE {kind} {types} WHEN 'bytes' THEN {as_bytes} WHEN 'struct' THEN {as_struct} WHEN 'array'"
        f" THEN 'text' ELSE {as_integer} END"
    )


def default_form(type: SourceType, deployment: Deployment) -> str:
    """The form in which a column's cells are written in a message without schema, as the
    deployment's options of Debezium say; "" is Debezium's own default.
    """
    is_mysql = type.source not in (_POSTGRESQL, _SQLSERVER, _ORACLE)
    temporal = deployment.temporal or ("adaptive_time_microseconds" if is_mysql else "adaptive")
    match type.logical:
        case Logical.DECIMAL if _is_whole(type):
            return "number"
        case Logical.DECIMAL if deployment.decimal in ("", "precise"):
            return "variable" if _unconstrained(type) else "decimal"
        case Logical.DECIMAL:
            return {
                "double": "double",
                "numeric": "variable" if _unconstrained(type) else "numeric",
            }.get(deployment.decimal, "text")
        case Logical.INT if _unsigned_bigint(type) and deployment.bigint_unsigned == "precise":
            return "numeric" if deployment.decimal == "numeric" else "decimal"
        case Logical.FLOAT | Logical.DOUBLE:
            return "double"
        case Logical.BIT:
            return "boolean" if type.length == 1 else "bits"
        case Logical.BINARY:
            return {"base64-url-safe": "base64-url-safe", "hex": "hex"}.get(
                deployment.binary, "base64"
            )
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME if (
            temporal == "structured"
        ):
            return "parts"
        case Logical.DATE:
            return "text" if temporal == "isostring" else "days"
        case Logical.TIME if temporal == "adaptive_time_microseconds":
            return "us"
        case Logical.DATETIME | Logical.TIME:
            units = {
                "connect": "ms",
                "isostring": "text",
                "microseconds": "us",
                "nanoseconds": "ns",
            }
            adaptive = "ms" if type.fsp <= 3 else "us"
            if type.source in _FINE and (type.scale or 0) > 6:
                adaptive = "ns"
            return units.get(temporal, adaptive)
        case Logical.INT | Logical.YEAR:
            return "number"
        case _:
            return "text"


def typed(cell_text: str, form_sql: str, type: SourceType, deployment: Deployment) -> str:
    """SQL of a cell's value in the column's Spark type. `cell_text` is the SQL of the cell's text
    (a number or an object of JSON as it is spelled), `form_sql` the SQL of the name of the form in
    which it is written, such as `text`, `base64` or `days`.
    """
    value_by_form = _forms(cell_text, form_sql, type, deployment)
    if len(value_by_form) == 1 and "" in value_by_form:
        return value_by_form[""]
    cases = " ".join(f"WHEN '{name}' THEN {value}" for name, value in value_by_form.items() if name)
    return (
        f"CASE {form_sql} {cases}"
        + (f" ELSE {value_by_form['']}" if "" in value_by_form else "")
        + " END"
    )


def misfit(cell_text: str, value: str, type: SourceType, deployment: Deployment) -> str | None:
    """SQL of whether a cell does not fit its type; None if every cell fits. `cell_text` is the SQL
    of the cell's text, `value` the SQL of the value that `typed` made of it.

    NULL fits, and so do zero dates, and the placeholder of a value that was not sent, where the
    placeholder cannot be a value itself.
    """
    if type.logical is Logical.TEXT:
        return None
    unfit = f"{value} IS NULL AND {cell_text} IS NOT NULL"
    if type.logical in (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP):
        unfit += f" AND NOT {cell_text} RLIKE r'{_ZERO_DATE}'"
    elif type.source != "mysql" and type.logical in (Logical.JSON, Logical.BINARY):
        unfit += f" AND {cell_text} <> '{UNAVAILABLE}'"
    outside = _outside(cell_text, value, type)
    return f"({unfit})" + (f" OR {outside}" if outside else "")


def _unconstrained(type: SourceType) -> bool:
    """Whether each value of a decimal type has a scale of its own: PostgreSQL's numeric and
    Oracle's NUMBER without precision, and Oracle's FLOAT. Their precision in the model is above the
    source's largest.
    """
    most_digits = {_POSTGRESQL: 1000, _ORACLE: 38}.get(type.source)
    return most_digits is not None and (type.precision or 0) > most_digits


def _is_whole(type: SourceType) -> bool:
    """Whether a type is Oracle's NUMBER of a negative scale with values of up to 64 bits."""
    scale = type.scale or 0
    return type.source == _ORACLE and scale < 0 and (type.precision or 0) - scale < 19


def _unsigned_bigint(type: SourceType) -> bool:
    """Whether a type is MySQL's BIGINT UNSIGNED, which Spark reads as a decimal."""
    return type.logical is Logical.INT and type.spark.startswith("decimal")


def _forms(t: str, form_sql: str, type: SourceType, deployment: Deployment) -> dict[str, str]:
    """The SQL of a cell's value for each form in which a cell of the type may be written, by the
    form's name; under "" that for every other form. `t` is the SQL of the cell's text, `form_sql`
    that of the name of its form.
    """
    match type.logical:
        case Logical.INT if _unsigned_bigint(type):
            return {"digits": from_text(t, 20, 0), "": _unsigned(t)}
        case Logical.INT if type.source == _ORACLE and deployment.decimal == "double":
            of_double = f"try_cast({from_double(t, type.precision or 0, 0)} AS {type.spark})"
            return {"double": of_double, "": _integer(t, type)}
        case Logical.INT:
            return {
                "boolean": _truth(t, type),
                "": (
                    f"coalesce({_integer(t, type)}, {_truth(t, type)})"
                    if _may_be_boolean(type)
                    else _integer(t, type)
                ),
            }
        case Logical.YEAR:
            return {"": _integer(t, type)}
        case Logical.DECIMAL:
            return _decimals(t, type, deployment)
        case Logical.FLOAT | Logical.DOUBLE:
            # Java's suffixes (`1d`) and names (`NaN`) end in a letter.
            names = (
                f" OR {t} IN ('NaN', 'Infinity', '-Infinity')" if type.source == _POSTGRESQL else ""
            )
            return {
                "": f"CASE WHEN right({t}, 1) <= '9'{names} THEN try_cast({t} AS {type.spark}) END"
            }
        case Logical.BIT:
            true, false = (
                ("true", "false")
                if type.spark == "boolean"
                else (f"CAST(1 AS {type.spark})", f"CAST(0 AS {type.spark})")
            )
            return {
                "boolean": f"CASE {t} WHEN 'true' THEN {true} WHEN 'false' THEN {false} END",
                "bits": _bits(t, type),
            }
        case Logical.BINARY:
            base64 = _binary_of_length(t, "base64", type)
            default_value = _padded(t, default_form(type, deployment), type)
            return (
                {"": base64} if default_value == base64 else {"base64": base64, "": default_value}
            )
        case Logical.DATE:
            days = (
                f"try_cast({t} AS bigint) BETWEEN {_FIRST_DAY} AND {_LAST_DAY} THEN"
                f" date_from_unix_date(CAST({t} AS int))"
            )
            return {
                "days": f"CASE WHEN {days} END",
                "text": _date_sql(t),
                **_parts(type, date_of_parts(t)),
            }
        case Logical.DATETIME:
            return {
                "text": _wall_clock(t, type),
                **_parts(type, wall_clock_of_parts(t)),
                "": _stamp(t, form_sql, type),
            }
        case Logical.TIMESTAMP:
            moment = _instant(t, deployment.time_zone, type)
            return {
                "text": moment,
                **_parts(type, instant_of_parts(t)),
                "": _stamp(t, form_sql, type),
            }
        case Logical.TIME:
            return {
                "text": _clock(t, type),
                **_parts(type, _time_sql(micros_of_parts(t), type)),
                "": _time_sql(_micros(t, form_sql, -_MYSQL_TIME_END, _MYSQL_TIME_END, type), type),
            }
        case Logical.ENUM:
            return {"": _label(t, type)}
        case Logical.SET:
            return {"": _labels(t, type)}
        case _:
            return {"": mysql_typed(t, type)}


def _parts(type: SourceType, value_sql: str) -> dict[str, str]:
    """The SQL of a value from the struct of its parts, by that form's name; empty for a source
    whose connector writes none here.
    """
    return {"parts": value_sql} if type.source == _POSTGRESQL else {}


def _decimals(t: str, type: SourceType, deployment: Deployment) -> dict[str, str]:
    """For each form of a DECIMAL the SQL that reads the text `t` in it; "" stands for every other
    form.
    """
    scale = max(type.scale or 0, 0)
    precision = (type.precision or 0) - min(type.scale or 0, 0)
    from_digits = from_text(t, precision, scale)
    match deployment.decimal:
        case "double":
            return {"double": from_double(t, precision, scale), "": from_digits}
        case "numeric":
            return {"numeric": from_numeric(t, precision, scale), "": from_digits}
        case _:
            return {"": from_digits}


def _integer(t: str, type: SourceType) -> str:
    """SQL of an integer from the text `t`; NULL for another text."""
    return f"try_cast({t} AS {type.spark})"


def _may_be_boolean(type: SourceType) -> bool:
    """Whether a type is MySQL's TINYINT(1), which Debezium takes for a boolean if the statement
    spelled it BOOLEAN (debezium#boolean-tinyint).
    """
    return type.name == "tinyint" and type.length == 1 and not type.unsigned


def _truth(t: str, type: SourceType) -> str:
    """SQL of the number 1 or 0 from the text `true` or `false`; NULL for another text."""
    return f"CAST(CASE {t} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS {type.spark})"


def _unsigned(t: str) -> str:
    """SQL of a BIGINT UNSIGNED from the text `t`. A negative number stands for one of 64 bits that
    the connector printed as signed (mode `long`).
    """
    signed = f"CASE WHEN {t} RLIKE r'^-?[0-9]{{1,20}}\\z' THEN CAST({t} AS decimal(20,0)) END"
    wrapped = f"CASE WHEN v BETWEEN {-(1 << 63)}BD AND -1BD THEN v + {1 << 64}BD ELSE v END"
    return let(signed, "v", f"CAST({wrapped} AS decimal(20,0))")


def _bits(t: str, type: SourceType) -> str:
    """SQL of a BIT's value from the text `t`, base64 of its bytes in little-endian order. No bytes
    at all are zero in PostgreSQL, whose zero bytes are trimmed, and no value in MySQL.
    """
    pairs = "reverse(regexp_replace(h, '(.)(.)', '$2$1'))"
    none = "'0'" if type.source == _POSTGRESQL else "NULL"
    number = f"CASE WHEN h = '' THEN {none} WHEN length(h) <= 16 THEN conv({pairs}, 16, 10) END"
    value = let(f"hex({base64_bytes(t)})", "h", number)
    return (
        f"CASE {value} WHEN '0' THEN false WHEN '1' THEN true END"
        if type.spark == "boolean"
        else f"try_cast({value} AS {type.spark})"
    )


def _binary(t: str, binary_form: str) -> str:
    """SQL that turns a text in the form hex, base64-url-safe or base64 into bytes; NULL for a text
    that is not in that form.
    """
    if binary_form == "hex":
        return f"CASE WHEN length({t}) % 2 = 0 THEN try_to_binary({t}, 'hex') END"
    if binary_form == "base64-url-safe":
        standard = let(f"translate({t}, '-_', '+/')", "x", base64_bytes("x"))
        # The other alphabet's characters, which would pass as they are.
        return f"CASE WHEN NOT {t} RLIKE '[+/]' THEN {standard} END"
    return base64_bytes(t)


def _binary_of_length(t: str, binary_form: str, type: SourceType) -> str:
    """SQL of the bytes of a text in this form; for BINARY(n) NULL unless there are n bytes, since
    the connector pads them.
    """
    data, length = _binary(t, binary_form), type.length or 0
    characters = 2 * length if binary_form == "hex" else (length + 2) // 3 * 4
    return (
        f"CASE WHEN length({t}) = {characters} THEN {data} END" if type.name == "binary" else data
    )


def _padded(t: str, binary_form: str, type: SourceType) -> str:
    """SQL of the bytes of a text in this form. A BINARY(n) column that a statement declared as
    BINARY(n) CHAR comes as text in Latin-1 without the zero bytes at its end: it is padded to n
    bytes (debezium#declared-types). A text of up to n characters is such a one, since in every form
    n bytes take more characters than n.
    """
    data, length = _binary_of_length(t, binary_form, type), type.length or 0
    if type.name != "binary":
        return data
    latin = f"{t} RLIKE r'^[\\x00-\\xff]{{0,{length}}}\\z'"
    return (
        f"CASE WHEN {latin} THEN rpad(encode({t}, 'ISO-8859-1'), {length}, X'00') ELSE {data} END"
    )


def _micros(t: str, form_sql: str, low: int, high: int, type: SourceType) -> str:
    """SQL of microseconds from a number of milliseconds, microseconds or nanoseconds: the SQL
    `form_sql` gives the unit (ms, us, ns). NULL unless they are at least `low` and less than
    `high`, and for nanoseconds that are no whole microsecond; of the finer types of SQL Server and
    Oracle these are rounded down.
    """
    last = high - 1
    ms = f"WHEN 'ms' THEN CASE WHEN v BETWEEN {low // 1000} AND {last // 1000} THEN v * 1000 END"
    us = f"WHEN 'us' THEN CASE WHEN v BETWEEN {low} AND {last} THEN v END"
    inside = f"v BETWEEN {max(low * 1000, -(1 << 63))} AND {min(last * 1000, (1 << 63) - 1)}"
    micros_only = "" if type.source in _FINE else " AND v % 1000 = 0"
    # Rounded down after the division: before it, the smallest longs have no lower thousand.
    floor = "v DIV 1000 - CASE WHEN v % 1000 < 0 THEN 1 ELSE 0 END"
    ns = f"WHEN 'ns' THEN CASE WHEN {inside}{micros_only} THEN {floor} END"
    return let(f"try_cast({t} AS bigint)", "v", f"CASE {form_sql} {ms} {us} {ns} END")


def _stamp(t: str, form_sql: str, type: SourceType) -> str:
    """SQL of a date and time from a number of units since 1970, whose unit the SQL `form_sql` gives
    (ms, us, ns); NULL outside the years 1 to 9999, which Spark and Python do not have.
    """
    micros = _micros(t, form_sql, _FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY, type)
    if type.logical is Logical.TIMESTAMP:
        return f"timestamp_micros({micros})"
    return f"timestampadd(MICROSECOND, {micros}, {_EPOCH})"


def _date_sql(t: str) -> str:
    """SQL that turns a text of a date, which may end with Z, into a date; NULL for another text,
    and for the year 0.
    """
    day = f"regexp_replace({t}, r'Z\\z', '')"
    return (
        f"CASE WHEN {t} RLIKE r'^\\d{{4}}-\\d\\d-\\d\\dZ?\\z' AND {t} >= '0001' THEN try_cast({day}"
        " AS date) END"
    )


def _stamp_of(type: SourceType) -> str:
    """The pattern of the text of a date and time as the type's source has it written."""
    return _FINE_STAMP if type.source in _FINE else _STAMP


def _wall_clock(t: str, type: SourceType) -> str:
    """SQL of a DATETIME from its text; NULL for another text, and for the year 0000, which Python
    does not have. A Z at the end, which the connector appends to values without a zone, is ignored.
    """
    usual = f"{t} >= '0001' AND {t} RLIKE r'{_stamp_of(type)}Z?\\z'"
    return f"CASE WHEN {usual} THEN try_cast(regexp_replace({t}, r'Z\\z', '') AS timestamp_ntz) END"


def _instant(t: str, time_zone: str, type: SourceType) -> str:
    """SQL of a TIMESTAMP from its text: with an offset, as Debezium writes it, or as SQL text in
    the deployment's time zone; NULL for another text.
    """
    stamp = _stamp_of(type)
    zoned = f"WHEN {t} RLIKE r'{stamp}{_OFFSET}\\z' THEN try_cast({t} AS timestamp)"
    local = f"try_cast(concat({t}, 'Z') AS timestamp)"
    local = local if time_zone == "UTC" else f"to_utc_timestamp({local}, '{time_zone}')"
    return f"CASE WHEN {t} < '0001' THEN NULL {zoned} WHEN {t} RLIKE r'{stamp}\\z' THEN {local} END"


def _time_sql(micros: str, type: SourceType) -> str:
    """SQL of a TIME as text, `[-]HH:MM:SS[.ffffff]`, from the SQL of its microseconds; a fraction
    only where there is one. NULL for one that PostgreSQL or SQL Server cannot have.
    """
    hours = "a DIV 3600000000"
    wide = (
        f"CASE WHEN {hours} < 100 THEN right(concat('0', {hours}), 2) ELSE CAST({hours} AS"
        " string) END"
    )
    minutes_and_seconds = (
        "concat(':', right(concat('0', a DIV 60000000 % 60), 2), ':', right(concat('0', a DIV"
        " 1000000 % 60), 2))"
    )
    fraction = "concat('.', right(concat('00000', a % 1000000), 6))"
    fraction = f"CASE WHEN a % 1000000 = 0 THEN '' ELSE {fraction} END"
    body = (
        f"concat(CASE WHEN v < 0 THEN '-' ELSE '' END, {wide}, {minutes_and_seconds}, {fraction})"
    )
    # PostgreSQL has the time 24:00:00, SQL Server has not.
    last = {_POSTGRESQL: _DAY, _SQLSERVER: _DAY - 1}.get(type.source)
    valid = "v" if last is None else f"CASE WHEN v BETWEEN 0 AND {last} THEN v END"
    return let(let(micros, "v", valid), "v", let("abs(v)", "a", body))


def _clock(t: str, type: SourceType) -> str:
    """SQL of a TIME's text without the Z that may end it; NULL for another text. Of the up to nine
    fraction digits that a SQL Server text may have the first six are left.
    """
    if type.source == _SQLSERVER:
        cut = rf"regexp_replace({t}, r'(\.\d{{6}})\d*|Z\z', '$1')"
        return f"CASE WHEN {t} RLIKE r'{_FINE_CLOCK}' THEN {cut} END"
    plain = f"regexp_replace({t}, r'Z\\z', '')"
    return f"CASE WHEN {t} RLIKE r'{_CLOCK}' THEN {plain} END"


def _quoted(string: str) -> str:
    """SQL of a text that no setting of the session reads differently."""
    return f"CAST(X'{string.encode().hex()}' AS string)"


def _array(texts: tuple[str, ...]) -> str:
    """SQL of an array of these texts."""
    return f"array({', '.join(map(_quoted, texts))})"


def _escaped(members: tuple[str, ...]) -> tuple[str, ...]:
    r"""Labels as MySQL's and MariaDB's streams give them: `\` and `,` with a backslash before
    (debezium#enum-label).
    """
    return tuple(m.replace("\\", "\\\\").replace(",", "\\,") for m in members)


def _label(t: str, type: SourceType) -> str:
    """SQL of the index of an ENUM's label, which is escaped in a stream and plain in a snapshot; 0
    for the empty text, which stands for invalid input; NULL for an unknown label.
    """
    streamed = _escaped(type.members)
    lists = (streamed, type.members) if streamed != type.members else (type.members,)
    indices = ", ".join(f"nullif(array_position({_array(labels)}, {t}), 0)" for labels in lists)
    return f"CAST(coalesce({indices}, CASE WHEN {t} = '' THEN 0 END) AS int)"


def _labels(t: str, type: SourceType) -> str:
    """SQL of a SET's bit mask, a decimal(20,0), from the text of its labels, which commas separate;
    NULL if one is unknown. No label holds a comma. A label with a backslash is escaped in a stream
    and plain in a snapshot (`_escaped`): both are looked for.
    """
    labels = _array(type.members)
    if "\\" in "".join(type.members):
        position = (
            f"coalesce(nullif(array_position({_array(_escaped(type.members))}, x), 0),"
            f" array_position({labels}, x))"
        )
    else:
        position = f"array_position({labels}, x)"
    bit = let(position, "p", "CASE WHEN p > 0 THEN shiftleft(1L, CAST(p - 1 AS int)) END")
    mask = f"aggregate(split({t}, ','), 0L, (m, x) -> m | {bit})"
    # The bit of the 64th label is the sign of a long.
    unsigned = let(
        mask, "v", f"CAST(v AS decimal(20,0)) + CASE WHEN v < 0 THEN {1 << 64}BD ELSE 0BD END"
    )
    return f"CAST(CASE WHEN {t} = '' THEN 0BD ELSE {unsigned} END AS decimal(20,0))"


def _outside(cell_text: str, value: str, type: SourceType) -> str | None:
    """SQL of the test whether a value of the column's Spark type is outside the source type's
    domain; None if no value can be. `cell_text` is the SQL of the text from which the value was
    made.
    """
    low, high = type.low or 0, type.high or 0
    match type.logical:
        case Logical.YEAR:
            return f"({value} <> 0 AND {value} NOT BETWEEN 1900 AND {high})"
        case Logical.INT | Logical.BIT if type.spark != "boolean":
            return f"{value} NOT BETWEEN {low} AND {high}"
        case Logical.FLOAT | Logical.DOUBLE:
            infinite = f"abs({value}) = {type.spark}('Infinity')"
            if type.source == _POSTGRESQL:
                return f"({infinite} AND NOT endswith({cell_text}, 'Infinity'))"
            return f"{infinite} OR {value} < 0" if type.unsigned else infinite
        case Logical.DECIMAL if type.unsigned:
            return f"startswith({value}, '-')" if type.spark == "string" else f"{value} < 0"
        case _:
            return None
