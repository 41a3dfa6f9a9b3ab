"""The example notebook runs as it stands, on a session of its own."""

from pathlib import Path

import pytest

from conformance.brokers.jars import QUICK

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebook" / "decoder.ipynb"


def shown(cell, kind):
    return "".join(
        "".join(output.get("data", {}).get(kind, "")) for output in cell.get("outputs", ())
    )


@pytest.mark.spark
@pytest.mark.slow
def test_the_notebook_shows_the_mistake_and_its_repair(tmp_path, monkeypatch, class_archive):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    # The session is the notebook's own; its short life takes half the CPU time so.
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", " ".join((*QUICK, *class_archive)))
    nbclient.NotebookClient(
        notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    first, second, last = [cell for cell in notebook.cells if cell.cell_type == "code"][-3:]
    assert "every row of DELETE comes out with its before image in after" in shown(
        first, "text/html"
    )
    assert "does NOT conform" in shown(first, "text/html")
    assert "conforms" in shown(second, "text/html")
    assert shown(last, "text/plain") == "(3, [], 0)"
    assert {path.name for path in tmp_path.iterdir()} <= {"spark-warehouse", "artifacts"}
