"""Bulk's messages, filled into templates, judged against what happened in their units."""

from collections import defaultdict
from dataclasses import replace

import pytest

from conformance.engines.engine import RecordSource, Request, write_records
from conformance.engines.specs import DECODERS
from conformance.judging.findings import Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import read
from conformance.rules.rules import rules
from generators.bulk import orders
from generators.bulk import traffic as load
from generators.bulk.orders import LoadOptions
from generators.drawing.cases import as_case
from generators.model import Case
from generators.wire_format import get, module_name

UNITS = 60
OPTIONS = LoadOptions(rows=2, transaction=3, null_rate=0.2, payload=30)


# One of texts, one of Connect's schemas, one of schemas of its own, one of Avro; tests of traffic
# have all against their writers.
@pytest.mark.parametrize(
    "name", ["ticdc-canal-json", "debezium-json", "ticdc-simple-json", "aliyun-dts-avro"]
)
def test_bulk_is_decoded_as_what_happened(engine, name):
    fmt = get(name)
    profile, cases, following = (
        fmt.profiles[0],
        list[Case](),
        defaultdict[tuple[str, int], int](int),
    )
    messages, places = list(load.messages(fmt, profile, 9, 0, UNITS, options=OPTIONS)), []
    left = iter(messages)
    for n in range(UNITS):
        case = as_case(fmt, profile, orders.load_scenario(fmt, profile, 9, n, OPTIONS))
        # The bytes are bulk's, what is owed comes from the unit.
        written = tuple(replace(w, message=next(left)) for w in case.written)
        cases.append(replace(case, written=written))
    assert next(left, None) is None
    for message in messages:
        places.append(
            (message.topic, message.partition, following[message.topic, message.partition])
        )
        following[message.topic, message.partition] += 1
    path = engine.directory / f"{name}.parquet"
    write_records(path, messages, [offset for _, _, offset in places])
    engine.keep_records(name, RecordSource((), parquet=str(path))).result()
    ranges = tuple(
        (topic, partition, 0, count - 1) for (topic, partition), count in following.items()
    )
    spec = f"{DECODERS}.{module_name(name)}"
    output = read(engine.decode(Request(name, ranges, spec, 1, profile.deployment)).result(), 1)
    judge, place = Judge(rules(name)), iter(places)
    results = [
        judge.judge(case, [output.get(next(place), []) for _ in case.written]) for case in cases
    ]
    assert [finding for result in results for finding in result.findings] == []
    assert {result.verdict for result in results} <= {Verdict.PASS, Verdict.INFORMATIONAL}
