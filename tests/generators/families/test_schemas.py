"""Schemas that writers declare in words: a misspelled type is refused with the nearest that
exists.
"""

import pytest

from generators.errors import UnknownName
from generators.families import connect
from generators.formats.ticdc_simple_avro import schema


@pytest.mark.parametrize(
    ("declare", "type", "near"),
    [
        (lambda: connect.fields("id:int64 name:strng?"), "strng", "string"),
        (lambda: connect.Schema("arry", items=connect.Schema("string")), "arry", "array"),
        (lambda: schema._fields("version:int sql:sting?"), "sting", "string"),
        (lambda: schema._fields("checksum:CheckSum?"), "CheckSum", "Checksum"),
    ],
)
def test_a_misspelled_type_is_refused(declare, type, near):
    with pytest.raises(UnknownName, match=f"unknown type '{type}'.*Did you mean '{near}'"):
        declare()
