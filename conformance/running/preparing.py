"""Prepares a format for a run: draws its cases, publishes their messages, and submits the decode
calls.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import product
from typing import Any

from conformance.brokers import registry
from conformance.cases import catalogue, tables
from conformance.cases.catalogue import matches_pattern, select_profiles
from conformance.cases.covering import select_covering
from conformance.cases.telling import plainest_profile, select_telling
from conformance.engines.engine import (
    Engine,
    Loaded,
    RecordSource,
    write_table,
)
from conformance.engines.specs import decoder_spec
from conformance.judging.capabilities import Capabilities
from conformance.judging.output import Place
from conformance.judging.selection import check_claims, split_by_claims
from conformance.rules.rules import rules
from conformance.running import early, events, laws
from conformance.running.events import Listener, ignore, working
from conformance.running.mixing import Mixed, group_compatible, merge_calls
from conformance.running.prepared import Note, Part, Prepared, Settings, decode_request
from generators.errors import HarnessError
from generators.model import Case, Message, Origin, messages_of
from generators.recorded.episodes import RECORDED
from generators.sources.databases import SOURCES
from generators.wire_format import Format


def start_loading(settings: Settings, engine: Engine, fmt: Format[Any]) -> Future[Loaded]:
    """Starts loading the format's decoder: at the level that the settings name, or, for `both`, at
    the level that the decoder says itself.
    """
    level = {"changes": "changes", "rows": "rows"}.get(settings.level, "auto")
    return engine.load(decoder_spec(fmt.name, settings.decoder), level)


def prepare_format(
    settings: Settings,
    engine: Engine,
    fmt: Format[Any],
    listen: Listener = ignore,
    loading: Future[Loaded] | None = None,
) -> Prepared | None:
    """Draws the cases of one format, publishes their messages and submits the decode calls; None
    when the selection leaves no case. `loading` is the decoder that is already being loaded, None
    to start that here.
    """
    decoder = decoder_spec(fmt.name, settings.decoder)
    loading = loading or start_loading(settings, engine, fmt)
    began, note = time.monotonic(), working(listen)
    early_cases = early.start_early(settings, engine, fmt, listen)
    cases = _draw_cases(settings, fmt, loading, note)
    for_rules = settings.selection.rule_patterns(rules(fmt.name), cases)
    cases = settings.selection.cases(for_rules, cases)
    if not cases:
        return None
    counted_rules = settings.selection.rules(for_rules, rules(fmt.name))
    note(
        f"{fmt.name}: {len(cases)} cases in {time.monotonic() - began:.1f} s; waiting for the"
        " decoder"
    )
    loaded = loading.result()
    if early_cases:
        early_cases.start_decoding(loaded)
    check_claims(fmt, loaded.capabilities, cases)
    if loaded.capabilities.types and settings.tables is None:
        as_recorded = [c for c in cases if c.level == 1 or c.origin is Origin.RECORDED]
        cases = as_recorded + _cases_of_claimed_types(settings, fmt, loaded.capabilities, for_rules)
    supported, unsupported = split_by_claims(cases, loaded.capabilities, loaded.levels)
    candidates = [*supported, *(result.case for result in unsupported)]
    count = sum(case.origin is Origin.DRAWN for case in candidates)
    grouped = [
        catalogue.repeat_messages(call, settings.seed)
        for call in catalogue.group_calls(fmt, supported, loaded.levels, settings.seed)
    ]
    note(f"{fmt.name}: publishing {len(supported)} cases")
    copies: list[Message] = []
    for call in grouped:
        if call.level == 1:
            copies += call.foreign
    grouped_cases = list(itertools.chain.from_iterable(call.cases for call in grouped))
    messages = [*messages_of(grouped_cases), *copies]
    handle = fmt.name
    places, source = publish(settings, engine, handle, messages)
    engine.keep_records(handle, source)  # if it fails, so do the decode calls
    prepared = Prepared(
        settings,
        fmt,
        decoder,
        loaded,
        grouped,
        places,
        handle,
        unsupported,
        count,
        counted_rules=counted_rules,
    )
    prepared.spent[Part.START] = time.monotonic() - began
    prepared.owners = _owners_of_messages(grouped_cases, copies)
    listen(
        events.Drawn(
            fmt.name, len(supported), count, len(messages), len(grouped), time.monotonic() - began
        )
    )
    sampled = [call.name for call in laws.choose_calls(grouped, settings.seed)]
    mixing = not (early_cases and early_cases.breaks()) and settings.budget.mixed
    if early_cases:
        prepared.early_findings, prepared.always = early_cases.findings, early_cases.always
    if prepared.always is not None:
        prepared.futures = [Future() for _ in grouped]
        return prepared
    prepared.mixed = _submit_groups(
        engine, prepared, group_compatible(grouped, sampled, settings.seed) if mixing else []
    )
    for number, call in enumerate(grouped):
        prepared.futures.append(
            Future()
            if number in prepared.mixed
            else engine.decode(decode_request(prepared, call, call.cases))
        )
    if settings.budget.telling:
        return prepared
    if not settings.select or _selects_law(fmt, settings.select):
        prepared.laws = laws.submit_trials(engine, prepared)
    return prepared


def _owners_of_messages(cases: Iterable[Case], copies: Sequence[Message]) -> dict[int, Case]:
    """The case of each published message, by the message's `id()`. A message of `copies`, which a
    call publishes once more, belongs to the case of the message that it equals.
    """
    owners: dict[int, Case] = {}
    owner_of_copied: dict[Message, Case] = {}
    for case in cases:
        for written in case.written:
            owners[id(written.message)] = case
            if copies:
                owner_of_copied[written.message] = case
    for copy in copies:
        owners[id(copy)] = owner_of_copied[copy]
    return owners


def _selects_law(fmt: Format[Any], patterns: Sequence[str]) -> bool:
    """Whether one of the selection's patterns matches one of the format's laws (rules on calls,
    such as that a message decodes alike in every batch).
    """
    law_ids = [rule.id for rule in rules(fmt.name) if rule.law]
    return any(matches_pattern(law, pattern) for law, pattern in product(law_ids, patterns))


def _submit_groups(
    engine: Engine, prepared: Prepared, groups_of_calls: Iterable[Sequence[int]]
) -> dict[int, Mixed]:
    """Submits one decode call for each group of calls (by their indices) that can be decoded
    together. Returns the common call under the index of each call in its group.
    """
    by_number: dict[int, Mixed] = {}
    for numbers in groups_of_calls:
        call = merge_calls([prepared.calls[number] for number in numbers])
        mixed = Mixed(
            call, tuple(numbers), engine.decode(decode_request(prepared, call, call.cases))
        )
        by_number |= dict.fromkeys(numbers, mixed)
    return by_number


def _draw_telling_cases(
    settings: Settings,
    fmt: Format[Any],
    patterns: Sequence[str],
    loading: Future[Loaded],
    note: Note,
) -> list[Case]:
    """The cases of a budget such as quick: the most telling named cases of one profile that the
    decoder claims, or, if `patterns` select cases, the most telling of these. Only cases of the
    decoder's levels are taken. They are written while the decoder is being loaded.
    """
    selected = select_profiles(fmt, settings.writer_profile)
    profiles = selected if patterns else (plainest_profile(selected),)
    cases = list(catalogue.named_cases(fmt, profiles, tuple(patterns)))
    loaded = loading.result()
    claimed_profiles = [p for p in selected if loaded.capabilities.claims("profiles", p.name)]
    if not patterns and claimed_profiles and profiles[0] not in claimed_profiles:
        profiles = (plainest_profile(claimed_profiles),)
        cases = list(catalogue.named_cases(fmt, profiles))
    cases = [case for case in cases if case.level in loaded.levels]
    telling_cases = select_telling(cases, settings.budget.telling)
    names = ", ".join(profile.name for profile in profiles)
    note(f"{fmt.name}: {len(telling_cases)} of {len(cases)} named cases of {names}")
    return telling_cases


def _draw_cases(
    settings: Settings, fmt: Format[Any], loading: Future[Loaded], note: Note
) -> list[Case]:
    """The named, drawn and recorded cases of the format, or those of the user's tables."""
    selected = select_profiles(fmt, settings.writer_profile)
    count, seed = settings.budget.drawn, settings.seed
    if settings.tables is not None:
        selected = tables.profiles_of_source(fmt, selected, settings.tables.schema)
        cases = list(tables.named_cases(fmt, selected, settings.tables))
        note(
            f"{fmt.name}: {len(cases)} cases of the tables, {len(selected)} profiles; drawing"
            f" {count}"
        )
        return [*cases, *tables.drawn_cases(fmt, selected, settings.tables, count, seed)]
    patterns = settings.selection.of_cases(rules(fmt.name))
    if settings.budget.telling:
        return _draw_telling_cases(settings, fmt, patterns, loading, note)
    count = count if catalogue.may_match(patterns, f"{fmt.name}/*/drawn") else 0
    cases = list(catalogue.named_cases(fmt, selected, patterns))
    covers = settings.budget.covering and not patterns
    share = f"of {len(cases)} " if covers else ""
    if covers:
        cases = select_covering(cases, seed)
    note(
        f"{fmt.name}: {len(cases)} {share}named cases of {len(selected)} profiles; drawing {count}"
    )
    cases += catalogue.drawn_cases(fmt, selected, count, seed)
    if not catalogue.may_match(patterns, f"{fmt.name}/{RECORDED}"):
        return cases
    return cases + list(
        catalogue.recorded_cases(
            fmt, settings.writer_profile, settings.budget.recorded, settings.select
        )
    )


def _cases_of_claimed_types(
    settings: Settings, fmt: Format[Any], claims: Capabilities, for_rules: frozenset[str]
) -> list[Case]:
    """The cases of level two (typed rows) for a decoder that claims only some types: their tables
    have columns of these types alone, so that no row fails for a column that the decoder does not
    claim. `for_rules` are the patterns of --select and --exclude that match rules, not cases.
    """
    narrow_format = replace(
        fmt, supports=lambda type: fmt.supports(type) and claims.claims("types", type.key)
    )
    # A source without such a type has no row to ask for.
    sources_with_type = {
        name
        for name, source in SOURCES.items()
        if any(map(narrow_format.supports, source.types.values()))
    }
    selected = [
        profile
        for profile in select_profiles(narrow_format, settings.writer_profile)
        if profile.source in sources_with_type
    ]
    cases_of_claimed = list(catalogue.named_cases(narrow_format, selected))
    if settings.budget.covering and not settings.selection.of_cases(rules(fmt.name)):
        cases_of_claimed = select_covering(cases_of_claimed, settings.seed)
    cases = [
        *cases_of_claimed,
        *catalogue.drawn_cases(narrow_format, selected, settings.budget.drawn, settings.seed),
    ]
    return settings.selection.cases(for_rules, [case for case in cases if case.level == 2])


def publish(
    settings: Settings, engine: Engine, handle: str, messages: Sequence[Message]
) -> tuple[dict[int, Place], RecordSource]:
    """Publishes the messages to Kafka, or, without a broker, writes them into a file. Returns the
    coordinates of each message (topic, partition, offset) by its `id()`, and the source from which
    the engine reads. Raises HarnessError if a message is not delivered.
    """
    if settings.bootstrap is None:
        places_in_order, source = write_table(engine.directory, handle, messages)
        return dict(zip(map(id, messages), places_in_order, strict=True)), source
    from generators.publishing import kafka
    from generators.publishing.cluster import as_cluster

    registry.register_schemas(messages)
    published: Iterable[Message] = messages
    if as_cluster(settings.bootstrap).topic:
        # A topic of the user's deletes records of the past by their time, and may refuse those of
        # the future.
        published = (replace(message, timestamp_ms=0) for message in messages)
    result = kafka.publish(settings.bootstrap, settings.topic, published)
    if result.failed:
        raise HarnessError(
            f"{result.failed} of {len(messages)} messages were not delivered to {settings.topic}:"
            f" {result.errors[0]}"
        )
    places = {}
    for message, record in zip(messages, result.placed, strict=True):
        assert record is not None
        places[id(message)] = (record.topic, record.partition, record.offset)
    by_partition: dict[int, list[int]] = defaultdict(list)
    for _, partition, offset in places.values():
        by_partition[partition].append(offset)
    ranges = tuple(
        (settings.topic, p, min(offsets), max(offsets))
        for p, offsets in sorted(by_partition.items())
    )
    return places, RecordSource(ranges, bootstrap=settings.bootstrap, topic=settings.topic)
