"""Settings of Spark that a user gives: those of the harness are refused, the others win."""

import re

import pytest

from conformance.engines.spark_conf import NAMES, OWNED, checked, merged
from generators.errors import UsageError


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("spark.master", "publish --master names a cluster"),
        ("spark.ui.port", "a run has no UI"),
        ("spark.cdc.firstOffset", "the harness's own"),
        ("spark.local.dir", "which TMPDIR places"),
        ("spark.sql.execution.arrow.pyspark.enabled", "as Arrow"),
    ],
)
def test_settings_of_the_harness_are_refused_with_the_reason(name, why):
    with pytest.raises(UsageError, match=rf"^--spark-conf {name}: the harness sets it; .*{why}$"):
        checked(name, "x")
    assert not re.search(NAMES, name)


def test_every_other_name_of_spark_is_taken():
    for name in ("spark.driver.memory", "spark.masterful", "spark.sql.session.timeZone", "spark.jars", "spark.jars.packages"):
        assert checked(name, "x") == (name, "x")
        assert re.search(NAMES, name)
    with pytest.raises(UsageError, match=r"^--spark-conf driver\.memory: names of Spark's settings begin with spark\.$"):
        checked("driver.memory", "x")
    assert all(why and name.startswith("spark.") for name, why in OWNED.items())


def test_the_user_s_settings_win_and_a_jvm_gets_both_options():
    options = "spark.driver.extraJavaOptions"
    conf = {options: "-Xmn1g", "spark.a": "1"}
    assert merged(conf, {"spark.a": "2", "spark.b": "3"}) == {options: "-Xmn1g", "spark.a": "2", "spark.b": "3"}
    assert merged(conf, {options: "-Dx=y"}) == {options: "-Xmn1g -Dx=y", "spark.a": "1"}
    assert merged({}, {options: "-Dx=y"}) == {options: "-Dx=y"}
