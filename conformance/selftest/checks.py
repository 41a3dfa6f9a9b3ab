"""Checks the harness: liars, altered outputs and lying writers must be noticed, right answers and
decoders must pass.

What a right decoder returns is made of what the cases owe, and most liars are operators on it: no
decoder runs. A few liars of each format run in Spark, and the writers' lies, which change bytes,
are read by the reference decoder.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final

from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, write_table
from conformance.engines.specs import LIAR, decoder_spec
from conformance.judging.judge import BAD, CaseResult, Finding, Judge, Verdict
from conformance.rules.order import order_of
from conformance.rules.rules import Obligation, Rule
from conformance.running import readings
from conformance.running.prepared import Prepared
from conformance.selftest import measuring, staging
from conformance.selftest.alter import alter
from conformance.selftest.bench import Bench, bench, judged
from conformance.selftest.keeping import ARRIVED, LOST, Keeping, kept, mistakes_of
from conformance.selftest.liars.table import Liar, liars
from conformance.selftest.lies.lie import Lie, lies
from conformance.selftest.measuring import Answer
from conformance.selftest.memory import Memory
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Alter, Operator
from conformance.selftest.stacks import stacks
from conformance.streams import reading as streams
from conformance.streams.kept import Kept, judge
from conformance.streams.recipes import RESTART, Group, group_of, not_kept
from generators.drawing.cases import LAYOUT, as_case, boundary_scenarios, owed_at_level
from generators.garbage.nemesis import NEMESES
from generators.model import Case, Written
from generators.wire_format import Format, get

CONVICTED: Final = 2
"""Convicted cases of a liar, after which no more are judged."""
BLAMED: Final = 25
"""Cases of a level, evenly spread, on which blame is tried: what it says of a case depends on the
others.
"""
LIE_CASES: Final = 20
"""Scenarios judged per lie, among those whose bytes it changes."""
IN_SPARK: Final[Mapping[str, tuple[Keeping, ...]]] = {
    "debezium-json": (LOST,),
    "ticdc-simple-json": (ARRIVED,),
}
"""Formats whose streams are kept in Spark, too, and the mistakes that are tried there: wrong in
what is kept over a crash, and in how changes are merged.
"""
ALSO: Final = "; also broken: "
"""Stands before the other rules that a lie of a writer breaks."""
STREAM_NEMESES: Final = (
    *("none", "duplicate", "replay", "schema-lags", "late-watermarks"),
    *("corrupt", "copied", "append-time", "compacted"),
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check, passed or not.

    `kind` is reference, altered, liar, non-strict (a liar that only `--strict` convicts), blame,
    spark (a liar in Spark), stream (a keeper of tables), writer, operator (what becomes of one of
    the catalogue), rate (of all operators) or stacks (how several at once are named).
    """

    kind: str
    format: str
    name: str
    ok: bool
    detail: str

    def as_json(self) -> dict[str, Any]:
        """The check as JSON."""
        return asdict(self)


def selftest(
    engine: ChildEngine | None, formats: Sequence[str], seed: int, note: Callable[[str], None]
) -> list[Check]:
    """Runs all checks, by format; without an engine those that need none."""
    checks: list[Check] = []
    for name in formats:
        note(f"{name}: right answers")
        tried = bench(get(name), seed)
        checks += [*reference(tried), *altered(tried)]
        note(f"{name}: liars")
        checks += [*table_liars(tried, seed), *blame(tried)]
        note(f"{name}: operators")
        checks += operators(tried, seed)
        if engine is not None:
            note(f"{name}: liars in Spark")
            checks += in_spark(engine, tried, seed)
            note(f"{name}: lying writers")
            checks += writers(engine, tried)
        note(f"{name}: keepers of tables")
        group = traps(tried.fmt, seed)
        checks += keepers(group)
        if engine is not None and name in IN_SPARK:
            note(f"{name}: keepers of tables in Spark")
            checks += keepers_in_spark(engine, group)
    return checks


without_spark: Final = partial(selftest, None)


def reference(tried: Bench) -> Iterator[Check]:
    """Right rows break no rule, and the cases exercise every rule."""
    name = tried.fmt.name
    for rule in tried.judge.rules:
        if not rule.law and not tried.judge.compared[rule.id]:
            yield Check("reference", name, rule.id, False, "the rule owned no comparison")
        elif tried.judge.broken[rule.id] and rule.obligation in (
            Obligation.MUST,
            Obligation.SHOULD,
        ):
            yield Check(
                "reference",
                name,
                rule.id,
                False,
                f"broken {tried.judge.broken[rule.id]} times by right rows",
            )
    bad = [broken for broken in tried.judge.broken.values() if broken]
    compared = sum(tried.judge.compared.values())
    text = (
        f"{len(tried.cases)} cases, {len(tried.judge.rules)} rules, {compared} comparisons,"
        f" {len(bad)} accusations"
    )
    yield Check("reference", name, "no false alarm", not bad, text)


def altered(tried: Bench) -> Iterator[Check]:
    """If a field of a correct output is altered, the rule that owns it breaks, and no other."""
    for rule in tried.judge.rules:
        if rule.law:
            continue
        sites = list(tried.judge.sites.get(rule.id, ()))
        if not sites:
            yield Check(
                "altered",
                tried.fmt.name,
                rule.id,
                False,
                "nothing to alter: the rule owned no comparison",
            )
            continue
        # Of a change with several right answers, an altered one may be right.
        sites.sort(
            key=lambda s: any(
                change.accept for change in tried.cases[s.case].case.written[s.message].changes
            )
        )
        site = sites[0]
        answered = tried.cases[site.case]
        rows = [list(of_message) for of_message in answered.rows]
        rows[site.message] = alter(rows[site.message], site, answered.case.level)
        result = judged(
            Judge(tuple(known for known in tried.judge.rules if not known.law)), answered.case, rows
        )
        convicted = Counter(f.rule for f in result.findings)
        ok = set(convicted) == {rule.id} and result.verdict is _answer(rule.obligation, result)
        detail = (
            f"{site.aspect} of {site.name} in {answered.case.id}: {result.verdict} by"
            f" {', '.join(convicted) or 'nobody'}"
        )
        yield Check("altered", tried.fmt.name, rule.id, ok, detail)


def _answer(obligation: Obligation, result: CaseResult) -> Verdict:
    if obligation is Obligation.MUST:
        return (
            result.verdict if result.verdict in (Verdict.FAIL, Verdict.ACCEPTED) else Verdict.FAIL
        )
    return Verdict.NON_STRICT if obligation is Obligation.SHOULD else Verdict.INFORMATIONAL


def table_liars(tried: Bench, seed: int) -> Iterator[Check]:
    """Each liar of the table is convicted by the rule that it names."""
    placed = staging.staged(tried, staging.samples(tried), seed, "")
    memory = Memory(staging.truth(tried, placed))
    for liar in liars(tried.fmt.name):
        fresh_judge = tried.fresh()
        if liar.breach:
            breaking = replace(placed, decoder=liar.breach)
            results = staging.results(
                memory, breaking, liar.convicts, liar.level, seed, fresh_judge, ()
            )
        else:
            results = _operated(tried, liar, fresh_judge)
        yield conviction(
            "liar", tried.fmt.name, liar.name, liar.convicts, fresh_judge.rules, results
        )


def _operated(tried: Bench, liar: Liar, fresh_judge: Judge) -> list[CaseResult]:
    """The results of the cases that the liar changes, up to a few that its rule convicts."""
    assert liar.operator is not None
    if (rule := fresh_judge.law(liar.convicts.rpartition("/")[2])) and rule.law in readings.LAWS:
        return _read_over_all(tried, liar.operator, liar.level, fresh_judge)
    results: list[CaseResult] = []
    convicted = 0
    for answered in tried.owning(liar.convicts, liar.level, liar.scenario):
        if (rows := answered.altered(liar.operator)) is not None:
            results.append(judged(fresh_judge, answered.case, rows))
            convicted += any(finding.rule == liar.convicts for finding in results[-1].findings)
            if convicted == CONVICTED:
                break
    return results


def _read_over_all(
    tried: Bench, operator: Operator, level: int, fresh_judge: Judge
) -> list[CaseResult]:
    """The results of the cases that break a law of readings, after all cases of the level."""
    chosen = readings.Readings(fresh_judge)
    every = [answered for answered in tried.cases.values() if answered.case.level == level]
    for answered in every:
        chosen.take(answered.case, answered.altered(operator) or answered.rows)
    by_case: dict[str, list[Finding]] = defaultdict(list)
    for finding in chosen.findings():
        by_case[finding.case].append(finding)
    return [
        CaseResult(
            tried.cases[case].case, fresh_judge.verdict(tried.cases[case].case, found), (*found,)
        )
        for case, found in by_case.items()
    ]


def conviction(
    kind: str,
    fmt: str,
    name: str,
    convicts: str,
    known: Sequence[Rule],
    results: Sequence[CaseResult],
    problem: str = "",
) -> Check:
    """Whether the cases that break the liar's rule have the verdict that the rule's obligation
    gives them in a run.
    """
    obligation = next((rule.obligation for rule in known if rule.id == convicts), None)
    loose = obligation is Obligation.SHOULD
    verdicts = Counter(
        result.verdict for result in results if any(f.rule == convicts for f in result.findings)
    )
    wanted = {Verdict.NON_STRICT, *BAD} if loose else BAD
    broken = Counter(f.rule for result in results for f in result.findings)
    others = [rule for rule in broken if rule != convicts]
    kind = "non-strict" if loose and kind == "liar" else kind
    if not problem and any(verdicts[verdict] for verdict in wanted):
        detail = f"convicted by {convicts} ({broken[convicts]} times): {', '.join(verdicts)}"
        return Check(
            kind, fmt, name, True, detail + (f", and {len(others)} other rules" if others else "")
        )
    verdict = (
        f", whose cases are {', '.join(verdicts)}"
        if verdicts
        else ""
        if obligation
        else " (no such rule)"
    )
    return Check(
        kind,
        fmt,
        name,
        False,
        problem or f"NOT convicted by {convicts}{verdict}; by {others or 'nobody'}",
    )


def blame(tried: Bench) -> Iterator[Check]:
    """Blame, which names the rule behind a finding, gives no case of a liar or an operator a weaker
    verdict.
    """
    weight = {Verdict.NON_STRICT: 1, **dict.fromkeys(BAD, 2)}
    weaker, number = Counter[str](), 0
    for level in (1, 2):
        cover = tried.spread(level, BLAMED)
        of_liars = [
            liar.operator for liar in liars(tried.fmt.name) if liar.level == level and liar.operator
        ]
        by_change: dict[Alter, int] = {}
        for operator in (
            *of_liars,
            *(operator for operator in OPERATORS.values() if level in operator.levels),
        ):
            if operator.alter not in by_change:
                pairs = zip(
                    *tried.ruled(cover, (answered.altered(operator) for answered in cover)),
                    strict=True,
                )
                by_change[operator.alter] = sum(
                    weight.get(now.verdict, 0) < weight.get(was.verdict, 0) for was, now in pairs
                )
            weaker[operator.name] += by_change[operator.alter]
            number += 1
    text = f"{number} liars and operators, {weaker.total()} weaker verdicts"
    yield Check(
        "blame",
        tried.fmt.name,
        "no weaker verdict",
        not +weaker,
        text + "".join(f"; {name}" for name in +weaker),
    )


def operators(tried: Bench, seed: int) -> Iterator[Check]:
    """What becomes of every operator of the catalogue, and how many are convicted: they were
    written without a look at rules.
    """
    measured = list(measuring.measure(tried))
    yield Check("rate", tried.fmt.name, "rate", True, measuring.rate(measured))
    names = {
        level: [
            m.operator.name for m in measured if m.level == level and m.answer is Answer.CONVICTED
        ]
        for level in (1, 2)
    }
    drawn = list(stacks(tried, names, seed))
    right = sum(stack.right for stack in drawn)
    words = (
        f"of {len(drawn)} decoders with two to four mistakes {right} have each of them named once,"
        " and no other"
    )
    yield Check("stacks", tried.fmt.name, "all", True, words)
    for stack in drawn:
        if not stack.right:
            yield Check("stacks", tried.fmt.name, f"level {stack.level}", True, str(stack))
    for m in measured:
        yield Check(
            "operator",
            tried.fmt.name,
            f"{m.operator.name}/{m.level}",
            m.answer not in measuring.HOLES,
            str(m),
        )


def in_spark(engine: ChildEngine, tried: Bench, seed: int) -> Iterator[Check]:
    """The reference decoder passes and each liar of Spark is convicted by the rule that it
    names.
    """
    name = tried.fmt.name
    known = engine.liars(name).result()
    mine = {
        liar["name"]: [
            answered.case
            for answered in staging.convicting(
                tried, liar["convicts"], liar["level"], liar["scenario"]
            )
        ]
        for liar in known
        if not staging.special(liar["convicts"])
    }
    level_two = [answered.case for answered in tried.cover(2)[: staging.CASES]]
    cases = {
        case.id: case
        for some in (staging.samples(tried), level_two, *mine.values())
        for case in some
    }
    placed = _opened(engine, staging.staged(tried, cases.values(), seed, decoder_spec(name, None)))
    yield _reference_in_spark(engine, placed, tried.fresh())
    for liar in known:
        lying, fresh_judge = replace(placed, decoder=f"{LIAR}{name}/{liar['name']}"), tried.fresh()
        results: list[CaseResult] = []
        problem = ""
        try:
            chosen = [case.id for case in mine.get(liar["name"], ())]
            results = staging.results(
                engine, lying, liar["convicts"], liar["level"], seed, fresh_judge, chosen
            )
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            problem = str(error).splitlines()[0]
        yield conviction(
            "spark", name, liar["name"], liar["convicts"], fresh_judge.rules, results, problem
        )
    engine.release(placed.handle)


def _opened(engine: ChildEngine, placed: Prepared) -> Prepared:
    written = (w.message for call in placed.calls for case in call.cases for w in case.written)
    messages = [message for message in written if id(message) in placed.places]
    _, source = write_table(engine.directory, placed.handle, messages)
    engine.open_records(placed.handle, source)
    return placed


def _reference_in_spark(engine: ChildEngine, placed: Prepared, fresh_judge: Judge) -> Check:
    """A run judges the reference decoder on all cases; here it is judged on those of the liars."""
    results: list[CaseResult] = []
    for call in placed.calls:
        results += staging.judged(engine, placed, call, call.cases, fresh_judge)
    accused: list[Finding] = [
        f for result in results if result.verdict in BAD for f in result.findings
    ]
    detail = f"{len(results)} cases in Spark, {len(accused)} accusations" + (
        f", the first by {accused[0].rule}" if accused else ""
    )
    return Check("reference", placed.fmt.name, "in Spark", not accused, detail)


def traps(fmt: Format[Any], seed: int) -> Group:
    """Streams of a profile of a format in which every stream rule has something to own."""
    profile = order_of(fmt.name).tried or next(
        profile.name for profile in fmt.profiles if not not_kept(fmt, profile)
    )
    return group_of(
        fmt,
        (fmt.profile(profile),),
        [nemesis for nemesis in NEMESES if nemesis.name in STREAM_NEMESES],
        seed,
    )


def keepers(group: Group) -> Iterator[Check]:
    """Each wrong keeper of tables is convicted by the stream rule that it names, and the right one
    by none.
    """
    yield from _converged(group, kept(group), "right keeper")
    for mistake in mistakes_of(group.fmt.name):
        yield from _kept(group, kept(group, mistake), mistake, mistake.name)


def keepers_in_spark(engine: ChildEngine, group: Group) -> Iterator[Check]:
    """The same of the reference and of the wrong keepers that Spark has, in one query.

    The query is stopped after a batch and resumed from its checkpoint.
    """
    name = group.fmt.name
    home = engine.directory / f"keepers-{name}"
    home.mkdir(exist_ok=True)
    makers = (streams.REFERENCE, *(mistake.name for mistake in IN_SPARK[name]))
    source = streams.made(group, home / "streams")
    reader = streams.GroupReader(
        engine, group, decoder_spec(name, None), source, home / "tables", makers
    )
    stopped = reader.read(hold={"batch": 1, "at": "after", "how": "fail"}).exception()
    try:
        if not isinstance(stopped, DecodeRaised):
            raise stopped or ChildDied("the query was not stopped")
        reader.read().result()
    except (DecodeRaised, ChildDied) as error:
        yield Check("stream", name, "the query", False, str(error).splitlines()[0])
        return
    yield from _converged(group, reader.kept(), "reference", RESTART)
    for mistake in IN_SPARK[name]:
        yield from _kept(group, reader.kept(mistake.name), mistake, f"{mistake.name} in Spark")


def _converged(group: Group, tables: Kept, who: str, how: str = "") -> Iterator[Check]:
    for outcome in judge(group, tables, how):
        words = f"{outcome.rows} rows, {outcome.messages} messages"
        words = "; ".join(f"{rule}: {what}" for rule, what in outcome.wrong) or words
        yield Check(
            "stream", group.fmt.name, f"{who} under {outcome.nemesis}", outcome.converged, words
        )


def _kept(group: Group, tables: Kept, mistake: Keeping, name: str) -> Iterator[Check]:
    outcomes = judge(group, tables, RESTART if mistake.convicts == RESTART else "")
    broken = sum((outcome.broken for outcome in outcomes), Counter[str]())
    for convicts in mistake.rules(group.fmt.name):
        rule = f"{group.fmt.name}/stream/{convicts}"
        others = sorted(set(broken) - {rule})
        words = f"convicted by {rule} ({broken[rule]} times)" + (
            f", and {len(others)} other rules" if others else ""
        )
        if not broken[rule]:
            words = f"NOT convicted by {rule}; by {others or 'nobody'}"
        yield Check("stream", group.fmt.name, name, broken[rule] > 0, words)


def writers(engine: ChildEngine, tried: Bench) -> Iterator[Check]:
    """Each lie of a writer breaks its rule, or changes only bytes."""
    unsent: set[int] = set()
    fmt, fresh_judge = tried.fmt, tried.fresh()
    lied = [(lie, *_lie(fmt, lie, unsent)) for lie in lies(fmt.name)]
    cases = [case for _, some, _ in lied for case in some]
    placed = _opened(engine, staging.staged(tried, cases, 0, decoder_spec(fmt.name, None), unsent))
    judged = (
        result
        for call in placed.calls
        for result in staging.judged(engine, placed, call, call.cases, fresh_judge)
    )
    results = {result.case.id: result for result in judged}
    engine.release(placed.handle)
    for lie, some, changed in lied:
        broken = Counter(f.rule for case in some for f in results[case.id].findings)
        others = ", ".join(rule for rule in broken if rule != lie.convicts)
        if lie.convicts is None:
            ok = changed > 0 and not broken
            detail = f"{len(some)} cases with other bytes; findings: {others or 'none'}"
        else:
            ok = broken[lie.convicts] > 0
            detail = f"{lie.convicts}: {broken[lie.convicts]} findings in {len(some)} cases" + (
                f"{ALSO}{others}" if others else ""
            )
        yield Check("writer", fmt.name, f"{lie.name} ({lie.profile})", ok, detail)


def _lie(fmt: Format[Any], lie: Lie, unsent: set[int]) -> tuple[list[Case], int]:
    """Cases with the lie's messages and the honest expectations; and how many have other bytes.

    Messages that the lie omits are still expected: they go to `unsent`, by identity.
    """
    honest = fmt.profile(lie.profile)
    cases: list[Case] = []
    changed = 0
    for scenario in boundary_scenarios(fmt, honest):
        if not fnmatchcase(scenario.name, lie.scenario):
            continue
        truth = owed_at_level(scenario, fmt.write(scenario.history, honest, LAYOUT))
        lying = lie.messages(fmt, scenario.history, truth)
        if not truth or not any(lying) or lying == [w.message for w in truth]:
            continue
        changed += 1
        if changed > LIE_CASES:
            break
        unsent.update(
            id(w.message) for w, message in zip(truth, lying, strict=False) if message is None
        )
        owed = (*(w.changes for w in truth), *[()] * len(lying))
        written = tuple(Written(lying[i] or truth[i].message, owed[i]) for i in range(len(lying)))
        case = replace(as_case(fmt, honest, scenario), written=written)
        cases.append(replace(case, id=f"{case.id}@{lie.name}"))
    return cases, changed
