"""What a run's header says of a user's tables; no Spark."""

from conformance.cases.catalogue import Budget
from conformance.cases.tables import read_tables
from conformance.running.prepared import Settings
from conformance.running.run import _own_tables


def test_the_header_has_the_notes_of_the_reading_and_what_a_format_cannot_write(tmp_path):
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE `t` (`id` int, `b` int AS (`id` / 2));\nCREATE TABLE `z` (`t` datetime(6), `b` bit(3));\n"
        "CREATE VIEW v AS SELECT 1;"
    )
    values = read_tables([str(tmp_path / "a.sql")], "mysql", "shop", None, 1)
    settings = Settings(("ticdc-canal-json", "huawei-cdl-json"), Budget("tiny", 0, 1), 1, tables=values)
    own = _own_tables(settings)
    assert own.names == ("shop.t", "shop.z")
    assert [note.construct for note in own.notes] == ["AS (`id` / 2)", "CREATE VIEW v AS SELECT 1"]
    assert own.left_out and all(line.startswith("huawei-cdl-json: table ") for line in own.left_out)
    assert _own_tables(Settings(("ticdc-canal-json",), Budget("tiny", 0, 1), 1)) is None
