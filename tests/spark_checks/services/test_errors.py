"""Errors in words."""

import pytest

from spark_checks.services.errors import CAUSES, LINES, summary


def test_an_error_has_its_first_lines_and_its_deepest_causes_but_no_stack():
    stack = "\n".join(f"  at org.Class{i}\nCaused by: {i}" for i in range(9))
    lines = summary(ValueError("no\n\n\tat org.Class\nbecause\n" + "x\n" * 50 + stack)).splitlines()
    assert (lines[:3], lines[LINES:]) == (
        ["no", "because", "x"],
        ["Caused by: 6", "Caused by: 7", "Caused by: 8"],
    )
    assert len(lines) == LINES + CAUSES


def test_py4j_s_own_words_are_no_first_line():
    spoken = "An error occurred while calling o449.getResult.\n: org.apache.spark.SparkException: gone\n\tat org.Class"
    assert summary(ValueError(spoken)) == "org.apache.spark.SparkException: gone"


def test_the_line_of_the_users_code_is_told(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("def decode():\n    return {}['old']\n", "utf-8")
    names: dict[str, object] = {}
    exec(compile(mine.read_text("utf-8"), str(mine), "exec"), names)
    with pytest.raises(KeyError) as caught:
        names["decode"]()
    assert summary(caught.value).splitlines()[-1] == f"at {mine}, line 2"
    worker = f'Traceback\n  File "/env/site-packages/pyspark/worker.py", line 9, in main\n  File "{mine}", line 5, in read\nKeyError'
    assert summary(ValueError(worker)).splitlines()[-1] == f"at {mine}, line 5"
    assert "line 9" not in summary(ValueError(worker)).splitlines()[-1]


def test_what_a_python_worker_raised_stands_first():
    worker = (
        "An exception was thrown from the Python worker. Please see the stack trace below.\nTraceback (most recent call last):\n"
        '  File "/env/site-packages/pyspark/worker.py", line 9, in main\n    process()\n'
        "  File \"/job/mine.py\", line 5, in read\n    value.upper()\nAttributeError: no 'upper'\n"
    )
    first, *_, last = summary(ValueError(worker)).splitlines()
    assert (first, last) == ("AttributeError: no 'upper'", "at /job/mine.py, line 5")


def test_a_refused_plan_is_not_shown():
    refused = "[UNRESOLVED_COLUMN] `rwo` cannot be resolved. SQLSTATE: 42703;\n'Project [rwo]\n+- Project [row]\n"
    assert (
        summary(ValueError(refused))
        == "[UNRESOLVED_COLUMN] `rwo` cannot be resolved. SQLSTATE: 42703"
    )


def test_the_innermost_cause_of_java_stands_before_the_frames_of_python():
    text = """[STREAM_FAILED] Query [id = 1] terminated with exception: [FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in foreach batch sink. Reason: An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "/lib/py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
  File "/srv/mine.py", line 12, in upsert
    spark.sql(merge)
py4j.protocol.Py4JJavaError: An error occurred while calling o145.sql.
: org.apache.spark.SparkException: Writing job aborted
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.writingJobAbortedError(QueryExecutionErrors.scala:1)
Caused by: org.apache.iceberg.exceptions.ValidationException: Table column names conflict with names reserved for Iceberg metadata columns: [_deleted]
\tat org.apache.iceberg.Schema.<init>(Schema.java:9)
"""
    assert summary(ValueError(text)).splitlines()[0] == (
        "org.apache.iceberg.exceptions.ValidationException: Table column names conflict with names"
        " reserved for Iceberg metadata columns: [_deleted]"
    )


def test_the_module_of_pyspark_s_errors_is_left_out():
    text = """[STREAM_FAILED] Query [id = 1] terminated with exception: Traceback (most recent call last):
  File "/srv/mine.py", line 12, in upsert
    spark.sql(merge)
pyspark.errors.exceptions.captured.UnsupportedOperationException: [DELTA_MULTIPLE_SOURCE_ROW] Cannot perform Merge
"""
    first, *_ = summary(ValueError(text)).splitlines()
    assert (
        first == "UnsupportedOperationException: [DELTA_MULTIPLE_SOURCE_ROW] Cannot perform Merge"
    )


def test_a_message_that_begins_on_a_line_of_its_own_is_told():
    text = """[STREAM_FAILED] Query [id = 1] terminated with exception: Traceback (most recent call last):
  File "/srv/mine.py", line 12, in upsert
    spark.sql(merge)
pyspark.errors.exceptions.captured.ParseException:
[PARSE_SYNTAX_ERROR] Syntax error at or near 'MATCHED'. SQLSTATE: 42601 (line 1, pos 9)

== SQL ==
"""
    first, *_ = summary(ValueError(text)).splitlines()
    assert first == (
        "ParseException: [PARSE_SYNTAX_ERROR] Syntax error at or near 'MATCHED'. SQLSTATE: 42601"
        " (line 1, pos 9)"
    )


def test_the_ids_of_a_query_are_left_out():
    text = "[STREAM_FAILED] Query [id = 7b-1, runId = 3c-2] terminated with exception: [PATH_NOT_FOUND] No x"
    assert summary(ValueError(text)) == "[PATH_NOT_FOUND] No x"
