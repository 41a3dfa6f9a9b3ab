from conformance.inspecting.books import BOOKS
from conformance.rules.sources import fact
from generators.wire_format import FORMATS, get

SIGNS = [(book, sign) for book in BOOKS for sign in book.signs]


def test_every_format_has_its_evidence_in_words_of_its_own():
    assert sorted(book.format for book in BOOKS) == sorted(FORMATS)
    for book in BOOKS:
        words = [sign.says for sign in book.signs]
        assert len(words) == len(set(words)), book.format


def test_signs_cite_facts_and_name_releases_and_options_that_there_are():
    assert len(SIGNS) > 100
    for book, sign in SIGNS:
        choices = get(book.format).choices
        assert fact(sign.citation) if sign.citation else sign.given or sign.without, sign
        assert set(sign.releases) <= set(choices.releases), sign
        assert {*sign.given, *sign.without} <= set(choices.options), sign
        assert not (sign.never and (sign.releases or sign.given or sign.without)), sign
        assert sign.never or sign.releases or sign.given or sign.without, sign
        assert not set(sign.given) & set(sign.without), sign
