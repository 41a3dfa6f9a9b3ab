"""Every sentence on a mistake, beside the values that it is made from."""

import pytest
from text_tables import rows

from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.findings import ColumnOfKind
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.sentences import (
    Quantity,
    Statement,
    describe_relation,
    describe_statement,
)

ROWS = (Quantity.EVERY, "row", ((("op", "DELETE"),),))
VALUES = (Quantity.NEARLY_EVERY, "value", ((("family", "time"),), (("type", "bit(1)"),)))
HOUR = 3_600_000_000
UNREADABLE = "unreadable message"

RELATIONS = {
    RelationKind.SPARK_TYPE: Relation(RelationKind.SPARK_TYPE),
    RelationKind.SPELLING: Relation(RelationKind.SPELLING),
    RelationKind.SIGN: Relation(RelationKind.SIGN),
    RelationKind.FRACTION: Relation(RelationKind.FRACTION),
    RelationKind.SHIFT: Relation(RelationKind.SHIFT, -8 * HOUR),
    RelationKind.WRAP: Relation(RelationKind.WRAP, 64),
    RelationKind.DOUBLE: Relation(RelationKind.DOUBLE),
    RelationKind.FLOAT: Relation(RelationKind.FLOAT),
    RelationKind.FACTOR: Relation(RelationKind.FACTOR, -3),
    RelationKind.BYTES_REVERSED: Relation(RelationKind.BYTES_REVERSED),
    RelationKind.LETTER_CASE: Relation(RelationKind.LETTER_CASE),
    RelationKind.BLANKS_AT_ENDS: Relation(RelationKind.BLANKS_AT_ENDS, name="blanks at the end"),
    RelationKind.CUT: Relation(RelationKind.CUT, 255, 900, "characters"),
    RelationKind.LOST_CHARACTERS: Relation(RelationKind.LOST_CHARACTERS, name="line ends"),
    RelationKind.ADDED_CHARACTERS: Relation(RelationKind.ADDED_CHARACTERS, name="quotes"),
    RelationKind.REPLACED_CHARACTERS: Relation(RelationKind.REPLACED_CHARACTERS, name="quotes"),
    RelationKind.ROUNDED: Relation(RelationKind.ROUNDED),
    RelationKind.WHOLE_DAYS: Relation(RelationKind.WHOLE_DAYS),
    RelationKind.HUNDREDS_OF_HOURS: Relation(RelationKind.HUNDREDS_OF_HOURS),
    RelationKind.TIME_OF_DAY: Relation(RelationKind.TIME_OF_DAY),
    RelationKind.MONTH_AND_DAY: Relation(RelationKind.MONTH_AND_DAY),
    RelationKind.ENCODED_TWICE: Relation(RelationKind.ENCODED_TWICE),
    RelationKind.LAST_DIGITS: Relation(RelationKind.LAST_DIGITS),
    RelationKind.DECIMAL_POINT: Relation(RelationKind.DECIMAL_POINT),
    RelationKind.BITS_REVERSED: Relation(RelationKind.BITS_REVERSED),
    RelationKind.BYTES_AS_LATIN: Relation(RelationKind.BYTES_AS_LATIN),
    RelationKind.LATIN_AS_UTF8: Relation(RelationKind.LATIN_AS_UTF8),
    RelationKind.ENCODED: Relation(RelationKind.ENCODED, name="base64"),
    RelationKind.UNICODE_FORM: Relation(RelationKind.UNICODE_FORM),
    RelationKind.EPOCH: Relation(RelationKind.EPOCH),
    RelationKind.OTHER_ORDER: Relation(RelationKind.OTHER_ORDER),
    RelationKind.WITHIN_DOCUMENT: Relation(RelationKind.WITHIN_DOCUMENT, name="numbers"),
    RelationKind.OTHER_IMAGE: Relation(RelationKind.OTHER_IMAGE, name="before"),
    RelationKind.OTHER_ROW: Relation(RelationKind.OTHER_ROW, 2),
    RelationKind.OTHER_COLUMN: Relation(RelationKind.OTHER_COLUMN, name="id"),
    RelationKind.COMES_AS: Relation(RelationKind.COMES_AS, name="string"),
    RelationKind.WHERE_NONE: Relation(RelationKind.WHERE_NONE),
    RelationKind.LOW_BITS: Relation(RelationKind.LOW_BITS, 31),
    RelationKind.TWO_DIGITS: Relation(RelationKind.TWO_DIGITS),
    RelationKind.LOST_MEMBERS: Relation(RelationKind.LOST_MEMBERS),
    RelationKind.ADDED_MEMBERS: Relation(RelationKind.ADDED_MEMBERS),
    RelationKind.EARLIER_ROW: Relation(RelationKind.EARLIER_ROW),
    RelationKind.LOST_BEGINNING: Relation(RelationKind.LOST_BEGINNING, before="a slash"),
    RelationKind.ONE_VALUE: Relation(RelationKind.ONE_VALUE, name="1970-01-01"),
    RelationKind.CUT_TO_PLACES: Relation(RelationKind.CUT_TO_PLACES, 2),
    RelationKind.ROUNDED_TO_PLACES: Relation(RelationKind.ROUNDED_TO_PLACES, 2),
    RelationKind.ROUNDED_TO_DIGITS: Relation(RelationKind.ROUNDED_TO_DIGITS, 38),
    RelationKind.FRACTION_LOST: Relation(RelationKind.FRACTION_LOST),
    RelationKind.FRACTION_CUT: Relation(RelationKind.FRACTION_CUT, 3),
    RelationKind.FRACTION_ROUNDED: Relation(RelationKind.FRACTION_ROUNDED, 3),
    RelationKind.FRACTION_A_THOUSANDTH: Relation(RelationKind.FRACTION_A_THOUSANDTH),
    RelationKind.FRACTION_AS_MICROS: Relation(RelationKind.FRACTION_AS_MICROS),
    RelationKind.MONTHS: Relation(RelationKind.MONTHS, 1),
    RelationKind.AS_BOOLEAN: Relation(RelationKind.AS_BOOLEAN),
    RelationKind.FIRST_MEMBER: Relation(RelationKind.FIRST_MEMBER),
    RelationKind.NUMBER_OF_MEMBERS: Relation(RelationKind.NUMBER_OF_MEMBERS),
    RelationKind.CHANGED_PARTS: Relation(
        RelationKind.CHANGED_PARTS, name="its numbers come as texts"
    ),
    RelationKind.REPLACED_BY: Relation(RelationKind.REPLACED_BY, name="tabs", before="a blank"),
    RelationKind.ESCAPED: Relation(RelationKind.ESCAPED, name="HTML"),
    RelationKind.LETTERS: Relation(RelationKind.LETTERS, name="small"),
    RelationKind.RENAMED: Relation(RelationKind.RENAMED, name="in capital letters"),
    RelationKind.VALUES_OF_COLUMNS: Relation(
        RelationKind.VALUES_OF_COLUMNS, name="each has the next one's value"
    ),
    RelationKind.FURTHER_ROW: Relation(RelationKind.FURTHER_ROW),
    RelationKind.LAST_ROW: Relation(RelationKind.LAST_ROW),
    RelationKind.LAST_ROW_ALONE: Relation(RelationKind.LAST_ROW_ALONE),
    RelationKind.UNSIGNED: Relation(RelationKind.UNSIGNED),
    RelationKind.SIGNED: Relation(RelationKind.SIGNED),
    RelationKind.MANTISSA: Relation(RelationKind.MANTISSA),
    RelationKind.NO_UTF8: Relation(RelationKind.NO_UTF8),
    RelationKind.CUT_TO_MINUTES: Relation(RelationKind.CUT_TO_MINUTES),
    RelationKind.DAYS_AS_MILLIS: Relation(RelationKind.DAYS_AS_MILLIS),
    RelationKind.EVERY_COLUMN: Relation(RelationKind.EVERY_COLUMN),
}
STATEMENTS = {
    DeviationKind.ROW_LOST: Statement(Deviation(DeviationKind.ROW_LOST), *ROWS),
    DeviationKind.ROW_REFUSED: Statement(
        Deviation(DeviationKind.ROW_REFUSED), Quantity.SOME, "row", by_company=True
    ),
    DeviationKind.ROW_SURPLUS: Statement(Deviation(DeviationKind.ROW_SURPLUS), *ROWS),
    DeviationKind.ROW_REPEATED: Statement(Deviation(DeviationKind.ROW_REPEATED), *ROWS),
    DeviationKind.ROW_NUMBER_NULL: Statement(Deviation(DeviationKind.ROW_NUMBER_NULL), *ROWS),
    DeviationKind.ROW_NUMBER_WRONG: Statement(Deviation(DeviationKind.ROW_NUMBER_WRONG), *ROWS),
    DeviationKind.OTHER_OP: Statement(
        Deviation(DeviationKind.OTHER_OP), *ROWS, ops_that_came=("UPDATE",)
    ),
    DeviationKind.OTHER_KIND: Statement(Deviation(DeviationKind.OTHER_KIND, "DDL"), *ROWS),
    DeviationKind.OP_IN_OTHER_LETTERS: Statement(
        Deviation(DeviationKind.OP_IN_OTHER_LETTERS, "op"), *ROWS
    ),
    DeviationKind.FIELD_WRONG: Statement(
        Deviation(DeviationKind.FIELD_WRONG, "keys", Relation(RelationKind.LETTER_CASE)), *ROWS
    ),
    DeviationKind.IMAGE_SURPLUS: Statement(
        Deviation(DeviationKind.IMAGE_SURPLUS, "after"), *ROWS, others=True
    ),
    DeviationKind.IMAGE_MISSING: Statement(Deviation(DeviationKind.IMAGE_MISSING, "before"), *ROWS),
    DeviationKind.IMAGE_ON_OTHER_SIDE: Statement(
        Deviation(DeviationKind.IMAGE_ON_OTHER_SIDE, "before"), *ROWS
    ),
    DeviationKind.IMAGE_WITHOUT_COLUMNS: Statement(
        Deviation(DeviationKind.IMAGE_WITHOUT_COLUMNS), *ROWS
    ),
    DeviationKind.COLUMN_MISSING: Statement(
        Deviation(DeviationKind.COLUMN_MISSING), Quantity.EVERY, "column", ((("capital",),),)
    ),
    DeviationKind.COLUMN_SURPLUS: Statement(
        Deviation(DeviationKind.COLUMN_SURPLUS), Quantity.SOME, "column", families=("int",)
    ),
    DeviationKind.VALUE_WRONG: Statement(
        Deviation(DeviationKind.VALUE_WRONG, relation=Relation(RelationKind.CUT)), *VALUES
    ),
    DeviationKind.VALUE_NULL: Statement(
        Deviation(DeviationKind.VALUE_NULL),
        Quantity.EVERY,
        "value",
        ((("family", "int"),), (("negative", "time"),)),
    ),
    DeviationKind.VALUE_FOR_NULL: Statement(Deviation(DeviationKind.VALUE_FOR_NULL), *VALUES),
    DeviationKind.ROWS_SHUFFLED: Statement(Deviation(DeviationKind.ROWS_SHUFFLED)),
    DeviationKind.COLUMNS_SWAPPED: Statement(Deviation(DeviationKind.COLUMNS_SWAPPED)),
    DeviationKind.MESSAGE_VANISHES: Statement(
        Deviation(DeviationKind.MESSAGE_VANISHES),
        unit=UNREADABLE,
        faults=("empty", "no-json"),
        more_faults=3,
    ),
    DeviationKind.DOUBTFUL_VANISHES: Statement(
        Deviation(DeviationKind.DOUBTFUL_VANISHES), unit="doubtful message", faults=("bom",)
    ),
    DeviationKind.MESSAGE_ACCEPTED: Statement(
        Deviation(DeviationKind.MESSAGE_ACCEPTED), Quantity.NEARLY_EVERY, UNREADABLE, ((("any",),),)
    ),
    DeviationKind.ROWS_BESIDE_REFUSAL: Statement(
        Deviation(DeviationKind.ROWS_BESIDE_REFUSAL), unit=UNREADABLE, faults=("trailing-content",)
    ),
}
EXPECTED = dict(rows(__file__, "sentences.txt"))


@pytest.mark.parametrize("kind", RelationKind)
def test_the_words_of_a_relation(kind):
    assert describe_relation(RELATIONS[kind]) == EXPECTED[f"relation {kind}"]


@pytest.mark.parametrize("kind", DeviationKind)
def test_the_sentence_of_a_deviation(kind):
    assert describe_statement(STATEMENTS[kind]) == EXPECTED[f"deviation {kind}"]


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        (Relation(RelationKind.SHIFT), "earlier or later by different times"),
        (Relation(RelationKind.WRAP), "differs by a power of 2"),
        (Relation(RelationKind.CUT, name="characters"), "cut"),
        (
            Relation(RelationKind.CUT, 1, 9, "bytes", "a zero byte"),
            "cut after 1 of 9 bytes before a zero byte",
        ),
    ],
)
def test_the_words_of_a_relation_without_all_of_its_numbers(relation, words):
    assert describe_relation(relation) == words


def test_most_units_are_told_in_the_plural():
    most = Statement(
        Deviation(DeviationKind.VALUE_WRONG), Quantity.MOST, "value", ((("family", "int"),),)
    )
    assert describe_statement(most) == "most values of the int types are wrong"


def test_a_cell_s_trait_is_told_of_a_row_as_its_cell_s():
    lost = Statement(
        Deviation(DeviationKind.ROW_LOST),
        Quantity.EVERY,
        "row",
        ((("op", "INSERT"), ("class", "bit(1)", "plain, zero")),),
    )
    assert (
        describe_statement(lost)
        == "every row of INSERT with a value of bit(1) that is ordinary or that is zero is lost"
    )


def test_a_law_is_told_by_its_statement():
    assert describe_statement(Statement(None, law="Decoding ends.")) == "not kept: Decoding ends"


def test_a_law_on_columns_is_told_with_the_columns_that_break_it():
    places = (ColumnOfKind("CORRUPT", "after"), ColumnOfKind("CORRUPT", "before"))
    law = Statement(None, law="Only ROW rows have images.", places=places)
    assert describe_statement(law) == (
        "the columns after of CORRUPT rows, before of CORRUPT rows break the rule: "
        "Only ROW rows have images"
    )


def test_a_family_of_types_is_named_once():
    """What a value holds is a trait of all families that decoders read alike, here FLOAT's."""
    wrong = Statement(
        Deviation(DeviationKind.VALUE_WRONG),
        Quantity.EVERY,
        "value",
        ((("family", "double"), ("held", "float", "of over 18 places")),),
    )
    assert describe_statement(wrong) == "every value of the double types of over 18 places is wrong"


def test_a_family_of_two_traits_is_named_once():
    wrong = Statement(
        Deviation(DeviationKind.VALUE_WRONG),
        Quantity.EVERY,
        "value",
        ((("held", "float", "of over 15 digits"), ("kin", "float", "exponent")),),
    )
    assert describe_statement(wrong) == (
        "every value of the float types of over 15 digits and that is written with an exponent "
        "is wrong"
    )
