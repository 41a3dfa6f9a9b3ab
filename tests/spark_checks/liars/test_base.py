"""The liars that every format has."""

import pytest

from conformance.rules.base import Obligation, rules
from generators.wire_format import FORMATS
from spark_checks.services.engine import liars

AVRO = {"aliyun-dts-avro", "ticdc-simple-avro"}
NARROW = {"huawei-cdl-json", "huawei-cdl-debezium"}


@pytest.mark.parametrize("name", FORMATS)
def test_every_fault_of_a_format_has_a_liar(name):
    found = {liar.name: liar for liar in liars(name)}
    owners = {rule.id: rule for rule in rules(name)}
    assert ("null-as-delete" in found, "no-message-as-row" in found) == (True, name not in AVRO)
    assert ("cell-outside-domain-as-null" in found) is (name not in NARROW)
    assert {found[n].convicts for n in ("null-as-delete", "no-message-as-row") if n in found} <= owners.keys()
    if name not in NARROW:
        assert owners[found["cell-outside-domain-as-null"].convicts].obligation is Obligation.SHOULD
