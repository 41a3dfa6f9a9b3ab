"""Faults of meaning in the core of the harness, each with the fast tests that must notice it."""

from typing import NamedTuple

JUDGE = "conformance/judging/judge.py"
COMPARE = "conformance/judging/compare.py"
KNOWN = "conformance/judging/known.py"
RESULTS = "conformance/judging/results.py"
SELECTION = "conformance/judging/selection.py"
OUTPUT = "conformance/judging/output.py"
BASE = "conformance/rules/base.py"
RULES = "conformance/rules/formats/ticdc_canal_json/__init__.py"
RUN = "conformance/running/run.py"
LAWS = "conformance/running/laws.py"
REDUCE = "conformance/reducing/reduce.py"
CHECKS = "conformance/selftest/checks.py"

T_JUDGE = "tests/conformance/judging/test_judge.py"
T_COMPARE = "tests/conformance/judging/test_compare.py"
T_KNOWN = "tests/conformance/judging/test_known.py"
T_OUTPUT = "tests/conformance/judging/test_output.py"
T_SCOPES = "tests/conformance/rules/test_scopes.py"
T_RULES = "tests/conformance/rules/test_rules.py"
T_RUN = "tests/conformance/running/test_rule_results.py"
T_LAWS = "tests/conformance/running/test_laws.py"
T_SHRINK = "tests/conformance/reducing/test_shrink.py"
T_CHECKS = "tests/conformance/selftest/test_checks.py"
T_SELECTION = "tests/conformance/judging/test_selection.py"
T_RESULTS = "tests/conformance/judging/test_results.py"


class Mutant(NamedTuple):
    """`old` stands once in `file`; with `new` in its place one of the `tests` must fail. `breaks` says what is wrong then."""

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]


MUTANTS = (
    Mutant(
        "phantom-column",
        JUDGE,
        "len(actual) > sum(c in actual for c in expected)",
        "len(actual) > len(expected)",
        "A column that the table has not passes in a partial image.",
        (T_JUDGE,),
    ),
    Mutant(
        "corrupt-among-others",
        JUDGE,
        "fine = len(rows) == 1 and rows[0].kind == Kind.CORRUPT",
        "fine = any(row.kind == Kind.CORRUPT for row in rows)",
        "Rows beside the CORRUPT row of an unreadable message pass.",
        (T_JUDGE,),
    ),
    Mutant(
        "accepted-outweighs",
        JUDGE,
        "Verdict.ACCEPTED if all(f.aspect",
        "Verdict.ACCEPTED if any(f.aspect",
        "A lost change beside an accepted fault is no failure of its own.",
        (T_JUDGE,),
    ),
    Mutant(
        "should-passes",
        JUDGE,
        "return Verdict.NON_STRICT",
        "return Verdict.PASS",
        "A broken SHOULD leaves no trace in the verdict.",
        (T_JUDGE,),
    ),
    Mutant(
        "doubled-row",
        JUDGE,
        "                    len(got) == 1,\n",
        "                    bool(got),\n",
        "A row that is returned twice passes.",
        (T_JUDGE,),
    ),
    Mutant(
        "other-tables",
        JUDGE,
        "(c.kind is Kind.ROW and c.table == table)",
        "c.kind is Kind.ROW",
        "At level two the rows of other tables are owed.",
        (T_JUDGE,),
    ),
    Mutant(
        "zero-date-at-level-one",
        JUDGE,
        "if got is None and level == 2 and null_is_fine(cell):",
        "if got is None and null_is_fine(cell):",
        "NULL passes for a zero date's text.",
        (T_JUDGE,),
    ),
    Mutant(
        "absent-may-be-there",
        JUDGE,
        "fine = there == (state is not State.ABSENT)",
        "fine = there or state is State.ABSENT",
        "A column that the message does not hold may be returned.",
        (T_JUDGE,),
    ),
    Mutant(
        "keys-in-any-order",
        JUDGE,
        "fine = list(want or ()) == list(got or ())",
        "fine = set(want or ()) == set(got or ())",
        "The order of the key's columns does not count.",
        (T_JUDGE,),
    ),
    Mutant(
        "owners-of-another-profile",
        JUDGE,
        "signature = tuple(fnmatchcase(case.profile, glob) for glob in globs)",
        "signature = ()",
        "All profiles share the rules of the first.",
        (T_JUDGE,),
    ),
    Mutant(
        "claims-of-types",
        JUDGE,
        'if not self.judge.capabilities.claims("types", cell.type.key):',
        "if self.judge.capabilities.types:",
        "A decoder that claims some types is judged on none.",
        (T_JUDGE,),
    ),
    Mutant(
        "true-is-one",
        COMPARE,
        "if isinstance(expected, bool) or isinstance(actual, bool) or expected is None or actual is None:",
        "if expected is None or actual is None:",
        "true equals 1 in a JSON document.",
        (T_COMPARE,),
    ),
    Mutant(
        "decimal-as-text",
        COMPARE,
        "if (kind.precision or 0) <= 38:",
        "if (kind.precision or 0) <= 18:",
        "A DECIMAL that Spark can hold passes as text.",
        (T_COMPARE,),
    ),
    Mutant(
        "integer-for-fraction",
        COMPARE,
        "return kind.scale == 0 and bool(actual.value == expected)",
        "return bool(actual.value == expected)",
        "A DECIMAL with a scale passes as an integer.",
        (T_COMPARE,),
    ),
    Mutant(
        "wide-bit-as-boolean",
        COMPARE,
        'if actual.family == "boolean" and kind.length != 1:',
        'if actual.family == "boolean" and kind.length is None:',
        "BIT(8) passes as a boolean.",
        (T_COMPARE,),
    ),
    Mutant(
        "timestamp-as-text",
        COMPARE,
        "return isinstance(expected, ZeroDate) and bool(actual.value == mysql.datetime_text(expected, kind.fsp))",
        "return isinstance(expected, int | ZeroDate) and bool(actual.value == mysql.datetime_text(expected, kind.fsp))",
        "A TIMESTAMP passes as a text without a zone.",
        (T_COMPARE,),
    ),
    Mutant(
        "negative-time",
        COMPARE,
        "return bool((-micros if sign else micros) == expected)",
        "return bool(micros == abs(expected))",
        "The sign of a TIME does not count.",
        (T_COMPARE,),
    ),
    Mutant(
        "any-level-two-type",
        COMPARE,
        "if actual.family not in ACCEPTED[cell.type.logical]:",
        "if not actual.family:",
        "A Spark type off the list passes when its value is equal.",
        (T_COMPARE,),
    ),
    Mutant(
        "known-half",
        KNOWN,
        "replace(result, known=frozenset(known - left))",
        "replace(result, known=frozenset(known))",
        "A rule is known although one of its breaches in the case is not.",
        (T_KNOWN,),
    ),
    Mutant(
        "known-by-any-verdict",
        KNOWN,
        "return self.verdict is verdict and matches(rule, self.rule)",
        "return matches(rule, self.rule)",
        "An entry covers failures of another verdict.",
        (T_KNOWN,),
    ),
    Mutant(
        "unexpected-pass-unseen",
        KNOWN,
        "return self.state in (State.UNEXPECTED_PASS, State.MATCHES_NOTHING)",
        "return self.state is State.MATCHES_NOTHING",
        "An entry that no longer fails may stay on record.",
        (T_KNOWN,),
    ),
    Mutant(
        "whole-by-some-cases",
        KNOWN,
        "set(entry.cases) <= self.named",
        "set(entry.cases) & self.named",
        "An entry counts as repaired when some of its cases were judged.",
        (T_KNOWN,),
    ),
    Mutant(
        "errors-without-a-finding",
        RESULTS,
        "if not binding or binding - result.known:",
        "if binding - result.known:",
        "A case that errored without a finding does not fail the run.",
        (T_KNOWN,),
    ),
    Mutant(
        "strict-always",
        RESULTS,
        "elif strict and result.verdict in _LAX",
        "elif result.verdict in _LAX",
        "A broken SHOULD fails a run that is not strict.",
        (T_KNOWN,),
    ),
    Mutant(
        "unexercised-passes",
        RESULTS,
        " or any(fmt.unexercised for fmt in self.formats)",
        "",
        "A rule that compared nothing does not fail the run.",
        (T_RUN,),
    ),
    Mutant(
        "unexercised-everywhere",
        RESULTS,
        "if r.reachable and not r.compared",
        "if not r.compared",
        "A rule that the selection kept out fails the run.",
        (T_RUN,),
    ),
    Mutant(
        "nothing-judged",
        RESULTS,
        "r.verdict is not Verdict.UNSUPPORTED for r in results",
        "True for r in results",
        "A run in which nothing was judged passes.",
        (T_RESULTS,),
    ),
    Mutant(
        "never-reachable",
        RUN,
        "        kept\n        and not settings.filtered\n",
        "        not kept\n        and not settings.filtered\n",
        "No rule of a whole run must be exercised.",
        (T_RUN,),
    ),
    Mutant(
        "laws-by-length",
        LAWS,
        "if before != after:",
        "if len(before) != len(after):",
        "A law compares the number of rows alone.",
        (T_LAWS,),
    ),
    Mutant(
        "laws-by-order-of-the-stream",
        LAWS,
        "for k, v in row.fields.items() if k not in _UNSTABLE}",
        "for k, v in row.fields.items()}",
        "What only the whole stream tells breaks a law.",
        (T_LAWS,),
    ),
    Mutant(
        "laws-that-fail",
        LAWS,
        'return [Finding(case.id, rule, number, 0, Aspect.VALUE, "message", "the same rows", f"{trial.circumstance}: {text}")]',
        "return []",
        "A decoder that fails in another environment obeys the law.",
        (T_LAWS,),
    ),
    Mutant(
        "crlf-everywhere",
        RULES,
        'kinds=("ROW",), profiles=("v6.5.*",)),',
        'kinds=("ROW",)),',
        "A lost row of any release breaks the rule on v6.5's line ends.",
        (T_SCOPES,),
    ),
    Mutant(
        "compression-of-snappy",
        RULES,
        'profiles=("*+snappy", "*+lz4")',
        'profiles=("*+snappy",)',
        "A lost row under lz4 does not break the rule on compression.",
        (T_SCOPES,),
    ),
    Mutant(
        "partial-images",
        RULES,
        '_PARTIAL: Final = ("*+only-updated*", "*+content-compatible*")',
        '_PARTIAL: Final = ("*+only-updated*",)',
        "The rules of partial images leave out a deployment that writes them.",
        (T_SCOPES,),
    ),
    Mutant(
        "profiles-do-not-scope",
        BASE,
        "and (not self.profiles or _any(self.profiles, s.profile))",
        "and True",
        "A rule owns what other profiles do.",
        (T_RULES,),
    ),
    Mutant(
        "every-tag",
        BASE,
        "and (not self.tags or any(_any(self.tags, tag) for tag in s.tags))",
        "and (not self.tags or all(_any(self.tags, tag) for tag in s.tags))",
        "A rule owns untagged cases, and none that have another tag too.",
        (T_RULES,),
    ),
    Mutant(
        "last-rule-owns",
        BASE,
        "    for rule in found:\n        if not rule.law and",
        "    for rule in reversed(found):\n        if not rule.law and",
        "The general rule owns what the special one says.",
        (T_RULES,),
    ),
    Mutant(
        "exclude-ignored",
        SELECTION,
        "return [c for c in kept if not any(matches(c.id, p) for p in dropped)]",
        "return kept",
        "--exclude leaves its cases in.",
        (T_SELECTION,),
    ),
    Mutant(
        "rules-narrow-cases",
        SELECTION,
        "chosen = [p for p in self.select if p not in for_rules]",
        "chosen = list(self.select)",
        "A selected rule leaves no case to judge.",
        (T_SELECTION,),
    ),
    Mutant(
        "unclaimed-profile",
        SELECTION,
        'if not capabilities.claims("profiles", case.profile):',
        "if capabilities.profiles and case.profile in capabilities.profiles:",
        "Profiles that a decoder does not claim are judged.",
        (T_SELECTION,),
    ),
    Mutant(
        "milliseconds",
        OUTPUT,
        'return list(column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()).to_pylist())',
        'return list(column.cast(pa.timestamp("ms", kind.tz)).cast(pa.int64()).to_pylist())',
        "A commit time is read in milliseconds.",
        (T_OUTPUT,),
    ),
    Mutant(
        "null-image-as-nulls",
        OUTPUT,
        "rows.append({name: leaf[i] for name, leaf in zip(names, leaves, strict=True)} if there else None)",
        "rows.append({name: leaf[i] for name, leaf in zip(names, leaves, strict=True)})",
        "A NULL image and a row of NULLs are alike.",
        (T_OUTPUT,),
    ),
    Mutant(
        "duplicate-columns",
        OUTPUT,
        "if schema.names.count(name) > 1:",
        "if schema.names.count(name) > 2:",
        "A column that is there twice is taken.",
        (T_OUTPUT,),
    ),
    Mutant(
        "crash-as-refusal",
        REDUCE,
        "    except Refused:\n",
        "    except (Refused, LookupError, TypeError):\n",
        "A crash of a writer counts as a history that its source cannot have.",
        (T_SHRINK,),
    ),
    Mutant(
        "every-liar-convicted",
        CHECKS,
        "if not problem and any(verdicts[verdict] for verdict in wanted):",
        "if True:",
        "The self test takes every liar for convicted.",
        (T_CHECKS,),
    ),
    Mutant(
        "non-strict-as-convicted",
        CHECKS,
        'kind = "non-strict" if obligation is Obligation.SHOULD else "liar"',
        'kind = "liar"',
        "A liar that only --strict convicts is printed as convicted.",
        (T_CHECKS,),
    ),
    Mutant(
        "altered-unnoticed",
        CHECKS,
        "ok = set(convicted) == {rule.id} and",
        "ok = set(convicted) <= {rule.id} and",
        "An altered output that nobody notices passes.",
        (T_CHECKS,),
    ),
)
