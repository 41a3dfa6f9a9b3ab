"""Checks the harness: liars, altered outputs and lying writers must be noticed, right answers and
decoders must pass.

What a right decoder returns is made of what the cases owe, and most liars are operators on it: no
decoder runs. A few liars of each format run in Spark, and the writers' lies, which change bytes,
are read by the reference decoder.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain, zip_longest
from typing import Any, Final, Literal, TypeAlias

from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, write_table
from conformance.engines.specs import LIAR, decoder_spec
from conformance.judging.findings import BAD, CaseResult, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.ledger import Site
from conformance.rules.order import order_of
from conformance.rules.rules import Obligation, Rule
from conformance.running import readings
from conformance.running.prepared import Prepared
from conformance.selftest import measuring, staging
from conformance.selftest.alter import alter
from conformance.selftest.bench import AnsweredCase, Bench, judge_rows, make_bench
from conformance.selftest.keeping import (
    BATCH_LOST,
    LAST_ARRIVAL_WINS,
    Keeping,
    keep_tables,
    mistakes_of,
)
from conformance.selftest.liars.table import Liar, liars
from conformance.selftest.lies.lie import Lie, lies
from conformance.selftest.measuring import Answer, Measured, Rate
from conformance.selftest.memory import Memory
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Alter, Operator
from conformance.selftest.stacks import draw_stacks
from conformance.streams import reading
from conformance.streams.kept import KeptTables, judge
from conformance.streams.recipes import RESTART, Group, group_of, why_not_kept
from generators.drawing.cases import LAYOUT, as_case, boundary_scenarios, owed_at_level
from generators.errors import first_line
from generators.garbage.nemesis import NEMESES
from generators.model import Case, Written
from generators.wire_format import Format, get

CONVICTED_CASES: Final = 2
"""Convicted cases of a liar, after which no more are judged."""
BLAMED_CASES: Final = 25
"""Cases of a level, evenly spread, on which blame (the search for the rule behind a finding) is
tried together: what it says of a case depends on the other cases.
"""
LIE_CASES: Final = 20
"""Scenarios judged per lie, among those whose bytes it changes."""
IN_SPARK: Final[Mapping[str, tuple[Keeping, ...]]] = {
    "debezium-json": (BATCH_LOST,),
    "ticdc-simple-json": (LAST_ARRIVAL_WINS,),
}
"""Formats whose streams are kept in Spark, too, and the mistakes of keepers that are tried there:
one of what is lost in a crash, and one of how changes are merged.
"""
STREAM_NEMESES: Final = (
    *("none", "duplicate", "replay", "schema-lags", "late-watermarks"),
    *("corrupt", "copied", "append-time", "compacted"),
)
"""The nemeses (disturbances of a stream) under which keepers of tables are tried."""


CheckKind: TypeAlias = Literal[
    "reference",  # right answers, and the reference decoder
    "altered",  # a right output with one part altered
    "liar",  # a line of the table of liars
    "non-strict",  # a liar that only `--strict` convicts
    "blame",
    "spark",  # a liar that runs in Spark
    "stream",  # a keeper of tables
    "writer",  # a lying writer
    "operator",  # what becomes of an operator of the catalogue
    "rate",  # how many of all operators are convicted
    "stacks",  # how several operators at once are named
]
"""The kinds of checks."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a format, and whether it passed. `detail` says it to people; for programs a
    check of kind `operator` has what was measured, one of kind `rate` the rate, and one of kind
    `writer` the other rules that the lie breaks.
    """

    kind: CheckKind
    format: str
    name: str
    ok: bool
    detail: str
    measured: Measured | None = None
    rate: Rate | None = None
    also_broken: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The result of one check of the self test as a JSON object."""
        members: dict[str, Any] = {
            "kind": self.kind,
            "format": self.format,
            "name": self.name,
            "ok": self.ok,
            "detail": self.detail,
        }
        if self.measured is not None:
            members["measured"] = self.measured.as_json()
        if self.rate is not None:
            members["rate"] = self.rate.as_json()
        if self.also_broken:
            members["also_broken"] = list(self.also_broken)
        return members


def selftest(
    engine: ChildEngine | None, formats: Sequence[str], seed: int, note: Callable[[str], None]
) -> list[Check]:
    """Runs all checks, format by format; without an engine only those that need no Spark. They try
    right rows, wrong decoders (liars), the blame of mistakes, single alterations of right rows
    (operators), wrong writers, and programs that keep tables (keepers): see the `check_*`
    functions.
    """
    checks: list[Check] = []
    for name in formats:
        note(f"{name}: right answers")
        bench = make_bench(get(name), seed)
        checks += [*check_right_rows(bench), *check_altered_outputs(bench)]
        note(f"{name}: liars")
        checks += [*check_table_liars(bench, seed), *check_blame(bench)]
        note(f"{name}: operators")
        checks += check_operators(bench, seed)
        if engine is not None:
            note(f"{name}: liars in Spark")
            checks += check_liars_in_spark(engine, bench, seed)
            note(f"{name}: lying writers")
            checks += check_lying_writers(engine, bench)
        note(f"{name}: keepers of tables")
        group = streams_for_keepers(bench.fmt, seed)
        if not group.streams:
            continue
        checks += check_keepers(group)
        if engine is not None and name in IN_SPARK:
            note(f"{name}: keepers of tables in Spark")
            checks += check_keepers_in_spark(engine, group)
    return checks


without_spark: Final = partial(selftest, None)
"""The self test without an engine: only the checks that need no Spark."""


def check_right_rows(bench: Bench) -> Iterator[Check]:
    """Right rows break no rule, and the cases exercise every rule (but laws): each decides at least
    one comparison. Yields the rules that fail this, then the sum ("no false alarm").
    """
    name = bench.fmt.name
    for rule in bench.judge.rules:
        broken = bench.judge.broken[rule.id]
        if not rule.law and not bench.judge.compared[rule.id]:
            yield Check("reference", name, rule.id, False, "the rule owned no comparison")
        elif broken and rule.obligation in (Obligation.MUST, Obligation.SHOULD):
            detail = f"broken {broken} times by right rows"
            yield Check("reference", name, rule.id, False, detail)
    broken_counts = [broken for broken in bench.judge.broken.values() if broken]
    compared = sum(bench.judge.compared.values())
    summary = (
        f"{len(bench.cases)} cases, {len(bench.judge.rules)} rules, {compared} comparisons,"
        f" {len(broken_counts)} accusations"
    )
    yield Check("reference", name, "no false alarm", not broken_counts, summary)


def check_altered_outputs(bench: Bench) -> Iterator[Check]:
    """For each rule but laws: alters a right output in one part that this rule is compared on, and
    judges it again. The check succeeds if the rule is broken, no other rule is, and the case has a
    verdict that fits the rule's obligation.
    """
    rules = tuple(rule for rule in bench.judge.rules if not rule.law)
    for rule in rules:
        sites = bench.judge.sites.get(rule.id, ())
        if not sites:
            detail = "nothing to alter: the rule owned no comparison"
            yield Check("altered", bench.fmt.name, rule.id, False, detail)
            continue
        # Of a change with several right answers, an altered one may be right.
        site = min(sites, key=partial(_has_other_answers, bench))
        answered = bench.cases[site.case]
        rows_of_messages = list(answered.rows)
        right_output = answered.rows[site.message]
        rows_of_messages[site.message] = alter(right_output, site, answered.case.level)
        result = judge_rows(Judge(rules), answered.case, rows_of_messages)
        convicted = Counter(finding.rule for finding in result.findings)
        verdicts = _verdicts_of_broken_rule(rule.obligation)
        ok = set(convicted) == {rule.id} and result.verdict in verdicts
        detail = (
            f"{site.aspect} of {site.name} in {answered.case.id}: {result.verdict} by"
            f" {', '.join(convicted) or 'nobody'}"
        )
        yield Check("altered", bench.fmt.name, rule.id, ok, detail)


def _has_other_answers(bench: Bench, site: Site) -> bool:
    """Whether the message that a comparison of the judge (`site`) is about has a change for which
    several answers are right.
    """
    changes = bench.cases[site.case].case.written[site.message].changes
    return any(change.accept for change in changes)


def _verdicts_of_broken_rule(obligation: Obligation) -> tuple[Verdict, ...]:
    """The verdicts that a case may get which breaks one rule, and no other, if the rule is of this
    obligation.
    """
    match obligation:
        case Obligation.MUST:
            return (Verdict.FAIL, Verdict.ACCEPTED)
        case Obligation.SHOULD:
            return (Verdict.NON_STRICT,)
    return (Verdict.INFORMATIONAL,)


def check_table_liars(bench: Bench, seed: int) -> Iterator[Check]:
    """Checks that each liar (a decoder that is wrong on purpose) that the TOML tables list for the
    format is convicted by the rule that its entry names.

    A liar with a `breach` (the name of a function in `memory.BREACHES`) breaks a law on calls, so
    that its results are those of decode calls: its breach takes the place of the decoder that is
    left empty here, and the law chooses the cases. Any other liar alters right rows.
    """
    prepared = staging.stage_cases(bench, staging.choose_law_cases(bench), seed, "")
    memory = Memory(staging.right_rows_by_place(bench, prepared))
    for liar in liars(bench.fmt.name):
        fresh_judge = bench.empty_judge()
        if liar.breach:
            breaking = replace(prepared, decoder=liar.breach)
            results = staging.results_of_liar(
                memory, breaking, liar.convicts, liar.level, seed, fresh_judge, ()
            )
        else:
            results = _results_of_operator(bench, liar, fresh_judge)
        yield conviction_check(
            "liar", bench.fmt.name, liar.name, liar.convicts, fresh_judge.rules, results
        )


def _results_of_operator(bench: Bench, liar: Liar, fresh_judge: Judge) -> list[CaseResult]:
    """The results of the cases that a liar changes, until its rule has convicted it in a few of
    them.
    """
    assert liar.operator is not None
    rule = fresh_judge.law(liar.convicts.rpartition("/")[2])
    if rule is not None and rule.law in readings.LAWS:
        return _results_of_law(bench, liar.operator, liar.level, fresh_judge)
    results: list[CaseResult] = []
    convicted_cases = 0
    for answered in bench.likely_cases(liar.convicts, liar.level, liar.scenario):
        altered = answered.apply_operator(liar.operator)
        if altered is None:
            continue
        result = judge_rows(fresh_judge, answered.case, altered)
        results.append(result)
        convicted_cases += any(finding.rule == liar.convicts for finding in result.findings)
        if convicted_cases == CONVICTED_CASES:
            break
    return results


def _results_of_law(
    bench: Bench, operator: Operator, level: int, fresh_judge: Judge
) -> list[CaseResult]:
    """The results of the cases that break a law of readings (a column is read in one way in all
    messages), which is judged on a decoder's values in all cases of a level together.
    """
    law_readings = readings.Readings(fresh_judge)
    cases_of_level = [answered for answered in bench.cases.values() if answered.case.level == level]
    for answered in cases_of_level:
        law_readings.take(answered.case, answered.apply_operator(operator) or answered.rows)
    by_case: dict[str, list[Finding]] = defaultdict(list)
    for finding in law_readings.findings():
        by_case[finding.case].append(finding)
    results: list[CaseResult] = []
    for case_id, findings in by_case.items():
        case = bench.cases[case_id].case
        results.append(CaseResult(case, fresh_judge.verdict(case, findings), tuple(findings)))
    return results


def conviction_check(
    kind: CheckKind,
    fmt: str,
    name: str,
    convicts: str,
    rules: Sequence[Rule],
    results: Sequence[CaseResult],
    problem: str = "",
) -> Check:
    """Checks that the cases that break a liar's rule have the verdict that follows, in a run, from
    the rule's obligation.
    """
    obligation = next((rule.obligation for rule in rules if rule.id == convicts), None)
    loose = obligation is Obligation.SHOULD
    broken, verdicts = Counter[str](), Counter[Verdict]()
    for result in results:
        broken_here = [finding.rule for finding in result.findings]
        broken.update(broken_here)
        if convicts in broken_here:
            verdicts[result.verdict] += 1
    convicting = {Verdict.NON_STRICT, *BAD} if loose else BAD
    other_rules = [rule for rule in broken if rule != convicts]
    kind = "non-strict" if loose and kind == "liar" else kind
    if not problem and any(verdicts[verdict] for verdict in convicting):
        detail = f"convicted by {convicts} ({broken[convicts]} times): {', '.join(verdicts)}"
        if other_rules:
            detail += f", and {len(other_rules)} other rules"
        return Check(kind, fmt, name, True, detail)
    remark = ""
    if verdicts:
        remark = f", whose cases are {', '.join(verdicts)}"
    elif obligation is None:
        remark = " (no such rule)"
    detail = problem or f"NOT convicted by {convicts}{remark}; by {other_rules or 'nobody'}"
    return Check(kind, fmt, name, False, detail)


def check_blame(bench: Bench) -> Iterator[Check]:
    """Checks blame (it names the rule behind a finding): no case of a liar or an operator may have
    a weaker verdict after blame than before.
    """
    weaker, number = Counter[str](), 0
    for level in (1, 2):
        cover = bench.spread_cases(level, BLAMED_CASES)
        operators_of_liars = [
            liar.operator for liar in liars(bench.fmt.name) if liar.level == level and liar.operator
        ]
        operators_of_level = [
            operator for operator in OPERATORS.values() if level in operator.levels
        ]
        weaker_by_change: dict[Alter, int] = {}
        for operator in (*operators_of_liars, *operators_of_level):
            if operator.alter not in weaker_by_change:
                weaker_by_change[operator.alter] = _count_weaker_verdicts(bench, cover, operator)
            weaker[operator.name] += weaker_by_change[operator.alter]
            number += 1
    summary = f"{number} liars and operators, {weaker.total()} weaker verdicts"
    detail = summary + "".join(f"; {name}" for name in +weaker)
    yield Check("blame", bench.fmt.name, "no weaker verdict", not +weaker, detail)


def _count_weaker_verdicts(bench: Bench, cover: Sequence[AnsweredCase], operator: Operator) -> int:
    """In how many of the cases an operator's (imitated mistake's) verdict is weaker after blame
    (the search for the rule behind a finding) than before it. The weakest are all verdicts that do
    not count, then comes pass-non-strict (which fails with --strict), then those that fail a run.
    """
    weight = {Verdict.NON_STRICT: 1, **dict.fromkeys(BAD, 2)}
    altered = [answered.apply_operator(operator) for answered in cover]
    judged, blamed = bench.judge_altered(cover, altered)
    pairs = zip(judged, blamed, strict=True)
    return sum(
        weight.get(after.verdict, 0) < weight.get(before.verdict, 0) for before, after in pairs
    )


def check_operators(bench: Bench, seed: int) -> Iterator[Check]:
    """Checks all operators of the catalogue: which are convicted, how many, and how a verdict names
    several of them at once. Operators were written without a look at rules.
    """
    measured = list(measuring.measure(bench))
    rate = measuring.count_answers(measured)
    yield Check("rate", bench.fmt.name, "rate", True, str(rate), rate=rate)
    convicted: dict[int, list[str]] = {1: [], 2: []}
    for operator_measure in measured:
        if operator_measure.answer is Answer.CONVICTED:
            convicted[operator_measure.level].append(operator_measure.operator.name)
    drawn_stacks = list(draw_stacks(bench, convicted, seed))
    rightly_named = sum(stack.is_rightly_named for stack in drawn_stacks)
    summary = (
        f"of {len(drawn_stacks)} decoders with two to four mistakes {rightly_named} have each of"
        " them named once, and no other"
    )
    yield Check("stacks", bench.fmt.name, "all", True, summary)
    for stack in drawn_stacks:
        if not stack.is_rightly_named:
            yield Check("stacks", bench.fmt.name, f"level {stack.level}", True, str(stack))
    for operator_measure in measured:
        name = f"{operator_measure.operator.name}/{operator_measure.level}"
        ok = operator_measure.answer not in measuring.HOLES
        yield Check(
            "operator", bench.fmt.name, name, ok, str(operator_measure), measured=operator_measure
        )


def check_liars_in_spark(engine: ChildEngine, bench: Bench, seed: int) -> Iterator[Check]:
    """Checks in Spark that the reference decoder passes, and that each liar is convicted by the
    rule that it names.
    """
    name = bench.fmt.name
    spark_liars = engine.liars(name).result()
    cases_of_liars: dict[str, list[Case]] = {}
    for liar in spark_liars:
        if not staging.breaks_law_of_calls(liar["convicts"]):
            answered_cases = staging.cases_for_liar(
                bench, liar["convicts"], liar["level"], liar["scenario"]
            )
            cases_of_liars[liar["name"]] = [answered.case for answered in answered_cases]
    level_two = [answered.case for answered in bench.cover(2)[: staging.CASES]]
    all_cases = chain(
        staging.choose_law_cases(bench), level_two, chain.from_iterable(cases_of_liars.values())
    )
    cases = {case.id: case for case in all_cases}
    prepared = _keep_records(
        engine, staging.stage_cases(bench, cases.values(), seed, decoder_spec(name, None))
    )
    yield _check_reference_in_spark(engine, prepared, bench.empty_judge())
    for liar in spark_liars:
        lying = replace(prepared, decoder=f"{LIAR}{name}/{liar['name']}")
        fresh_judge = bench.empty_judge()
        results: list[CaseResult] = []
        problem = ""
        try:
            case_ids = [case.id for case in cases_of_liars.get(liar["name"], ())]
            results = staging.results_of_liar(
                engine, lying, liar["convicts"], liar["level"], seed, fresh_judge, case_ids
            )
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            problem = first_line(error)
        yield conviction_check(
            "spark", name, liar["name"], liar["convicts"], fresh_judge.rules, results, problem
        )
    engine.release(prepared.handle)


def _keep_records(engine: ChildEngine, prepared: Prepared) -> Prepared:
    """Writes the messages of the prepared calls to a table, whose records the engine keeps. Returns
    `prepared`.
    """
    messages = [
        message
        for message in staging.messages_of_calls(prepared.calls)
        if id(message) in prepared.places
    ]
    _, source = write_table(engine.directory, prepared.handle, messages)
    engine.keep_records(prepared.handle, source)
    return prepared


def _check_reference_in_spark(engine: ChildEngine, prepared: Prepared, fresh_judge: Judge) -> Check:
    """Checks that the reference decoder breaks no rule on the cases on which liars are tried. (A
    run judges it on all cases.)
    """
    results: list[CaseResult] = []
    for call in prepared.calls:
        results += staging.judge_cases(engine, prepared, call, call.cases, fresh_judge)
    accusations: list[Finding] = []
    for result in results:
        if result.verdict in BAD:
            accusations += result.findings
    detail = f"{len(results)} cases in Spark, {len(accusations)} accusations"
    if accusations:
        detail += f", the first by {accusations[0].rule}"
    return Check("reference", prepared.fmt.name, "in Spark", not accusations, detail)


def streams_for_keepers(fmt: Format[Any], seed: int) -> Group:
    """The streams on which the self test tries keepers of tables, one for each nemesis of
    STREAM_NEMESES, which together exercise every stream rule: of the profile that the format's
    order names (`profile_for_wrong_keepers`), or else of the first from whose messages a table can
    be kept.
    """
    profile_name = order_of(fmt.name).profile_for_wrong_keepers or next(
        profile.name for profile in fmt.profiles if not why_not_kept(fmt, profile)
    )
    nemeses = [nemesis for nemesis in NEMESES if nemesis.name in STREAM_NEMESES]
    return group_of(fmt, (fmt.profile(profile_name),), nemeses, seed)


def check_keepers(group: Group) -> Iterator[Check]:
    """Checks that the right keeper (which builds tables from the changes of streams) ends with the
    source's tables, and that each wrong one whose mistake the format can show breaks the rule that
    the mistake names.
    """
    yield from _check_convergence(group, keep_tables(group), "right keeper")
    for mistake in mistakes_of(group.fmt.name):
        yield from _check_wrong_keeper(group, keep_tables(group, mistake), mistake, mistake.name)


def check_keepers_in_spark(engine: ChildEngine, group: Group) -> Iterator[Check]:
    """Checks in Spark that the reference keeper of tables breaks no stream rule, and that each
    wrong keeper of IN_SPARK is convicted. One query keeps the tables of all of them; it is stopped
    after a batch and resumed from its checkpoint.
    """
    name = group.fmt.name
    home = engine.directory / f"keepers-{name}"
    home.mkdir(exist_ok=True)
    makers = (reading.REFERENCE, *(mistake.name for mistake in IN_SPARK[name]))
    source = reading.feed_options(group, home / "streams")
    reader = reading.GroupReader(
        engine, group, decoder_spec(name, None), source, home / "tables", makers
    )
    stopped = reader.read(hold={"batch": 1, "at": "after", "how": "fail"}).exception()
    try:
        if not isinstance(stopped, DecodeRaised):
            raise stopped or ChildDied("the query was not stopped")
        reader.read().result()
    except (DecodeRaised, ChildDied) as error:
        yield Check("stream", name, "the query", False, first_line(error))
        return
    yield from _check_convergence(group, reader.read_tables(), "reference", RESTART)
    for mistake in IN_SPARK[name]:
        yield from _check_wrong_keeper(
            group, reader.read_tables(mistake.name), mistake, f"{mistake.name} in Spark"
        )


def _check_convergence(
    group: Group, tables: KeptTables, keeper: str, how: str = ""
) -> Iterator[Check]:
    """A check for each stream that the `tables` kept from it equal the source's. `keeper` names,
    for the check, what kept them; `how` says what ended its query, such as RESTART.
    """
    for outcome in judge(group, tables, how):
        counts = f"{outcome.rows} rows, {outcome.messages} messages"
        detail = "; ".join(f"{rule}: {what}" for rule, what in outcome.wrong) or counts
        name = f"{keeper} under {outcome.nemesis}"
        yield Check("stream", group.fmt.name, name, outcome.converged, detail)


def _check_wrong_keeper(
    group: Group, tables: KeptTables, mistake: Keeping, name: str
) -> Iterator[Check]:
    """A check for each rule that the mistake must break in at least one stream of the group."""
    outcomes = judge(group, tables, RESTART if mistake.convicts == RESTART else "")
    broken = sum((outcome.broken for outcome in outcomes), Counter[str]())
    for convicts in mistake.rules(group.fmt.name):
        rule = f"{group.fmt.name}/stream/{convicts}"
        other_rules = sorted(set(broken) - {rule})
        if not broken[rule]:
            detail = f"NOT convicted by {rule}; by {other_rules or 'nobody'}"
        else:
            detail = f"convicted by {rule} ({broken[rule]} times)"
            if other_rules:
                detail += f", and {len(other_rules)} other rules"
        yield Check("stream", group.fmt.name, name, broken[rule] > 0, detail)


def check_lying_writers(engine: ChildEngine, bench: Bench) -> Iterator[Check]:
    """Checks that each lie of a writer breaks the rule that it names, or, if it names none, that it
    changes bytes and breaks no rule.
    """
    unsent: set[int] = set()
    fmt, fresh_judge = bench.fmt, bench.empty_judge()
    cases_of_lies = [(lie, _cases_of_lie(fmt, lie, unsent)) for lie in lies(fmt.name)]
    cases = chain.from_iterable(cases for _, cases in cases_of_lies)
    prepared = _keep_records(
        engine, staging.stage_cases(bench, cases, 0, decoder_spec(fmt.name, None), unsent)
    )
    results: dict[str, CaseResult] = {}
    for call in prepared.calls:
        for result in staging.judge_cases(engine, prepared, call, call.cases, fresh_judge):
            results[result.case.id] = result
    engine.release(prepared.handle)
    for lie, lying_cases in cases_of_lies:
        broken = Counter[str]()
        for case in lying_cases:
            broken.update(finding.rule for finding in results[case.id].findings)
        other_rules = tuple(rule for rule in broken if rule != lie.convicts)
        rule_list = ", ".join(other_rules)
        if lie.convicts is None:
            ok = bool(lying_cases) and not broken
            detail = f"{len(lying_cases)} cases with other bytes; findings: {rule_list or 'none'}"
        else:
            ok = broken[lie.convicts] > 0
            detail = f"{lie.convicts}: {broken[lie.convicts]} findings in {len(lying_cases)} cases"
            if other_rules:
                detail += f"; also broken: {rule_list}"
        name = f"{lie.name} ({lie.profile})"
        yield Check("writer", fmt.name, name, ok, detail, also_broken=other_rules)


def _cases_of_lie(fmt: Format[Any], lie: Lie, unsent: set[int]) -> list[Case]:
    """At most LIE_CASES cases with the lie's messages and the honest expectations, from scenarios
    whose bytes the lie changes. If the lie omits a message, the case has the honest one, and its
    `id()` is added to `unsent`: it is not sent, but expected.
    """
    honest = fmt.profile(lie.profile)
    cases: list[Case] = []
    for scenario in boundary_scenarios(fmt, honest):
        if len(cases) == LIE_CASES:
            break
        if not fnmatchcase(scenario.name, lie.scenario):
            continue
        truth = owed_at_level(scenario, fmt.write(scenario.history, honest, LAYOUT))
        lying_messages = lie.messages(fmt, scenario.history, truth)
        honest_messages = [honestly_written.message for honestly_written in truth]
        if not truth or not any(lying_messages) or lying_messages == honest_messages:
            continue
        written: list[Written] = []
        for honestly_written, lying_message in zip_longest(truth, lying_messages):
            if honestly_written is None:
                # Beside the honest messages a lie only adds some: it is never None here.
                assert lying_message is not None
                written.append(Written(lying_message, ()))
            elif lying_message is None:
                unsent.add(id(honestly_written.message))
                written.append(honestly_written)
            else:
                written.append(replace(honestly_written, message=lying_message))
        case = replace(as_case(fmt, honest, scenario), written=tuple(written))
        cases.append(replace(case, id=f"{case.id}@{lie.name}"))
    return cases
