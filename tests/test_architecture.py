import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SPARK = ("pyspark", "py4j")
# What may not be imported below each folder; the longest folder that holds a file decides, on top of its parents'.
FORBIDDEN = {
    "generators": ("conformance", "spark_checks", *SPARK),
    "conformance": ("spark_checks", *SPARK),
    # Two independent readings of a format: the decoder shares no code with the writer.
    "spark_checks/decoders": (
        "generators.formats",
        "generators.sources.boundaries",
        "generators.drawing.cases",
        "generators.garbage.faults",
    ),
}
# Where the name of the Spark side may stand as text: the one module that finds it, and the one that says when it is hidden.
NAMES_SPARK_CHECKS = {"conformance/engines/child.py", "conformance/shadow.py"}


# A format as `new-format` lays it out: a checkout's folders below each container's name.
SKELETON = ROOT / "conformance" / "commands" / "skeleton"


def sources(folder: str) -> list[Path]:
    found = (ROOT / folder).rglob("*.py")
    return sorted(path for path in found if "__pycache__" not in path.parts and not path.is_relative_to(SKELETON))


def imported(tree: ast.AST, module: str) -> Iterator[str]:
    """Every dotted name that a module imports, wherever it stands, statically or by a literal given to import_module."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=base, names=names, level=level):
                parent = module.split(".")[:-level] if level else []
                origin = ".".join([*parent, *([base] if base else [])])
                yield from (f"{origin}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]) if name in {
                "import_module",
                "__import__",
            }:
                literal = first.values[0] if isinstance(first, ast.JoinedStr) and first.values else first
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    yield literal.value


def violations(path: str, text: str) -> list[str]:
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if path.endswith("/__init__.py"):
        module += ".__init__"
    banned = [name for folder, names in FORBIDDEN.items() if path.startswith(f"{folder}/") for name in names]
    if path in NAMES_SPARK_CHECKS:
        banned.remove("spark_checks")
    tree = ast.parse(text, path)
    found = [
        f"{path} imports {name}" for name in imported(tree, module) for ban in banned if name == ban or name.startswith(f"{ban}.")
    ]
    if path.startswith("conformance/") and path not in NAMES_SPARK_CHECKS:
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        found += [
            f"{path}:{node.lineno} names spark_checks"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
            if node.value == "spark_checks" or node.value.startswith("spark_checks.")
        ]
    return found


@pytest.mark.parametrize("package", ["generators", "conformance", "spark_checks"])
def test_imports_point_one_way(package):
    paths = sources(package)
    assert paths
    found = [line for path in paths for line in violations(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize("root", [*SKELETON.iterdir(), ROOT / "examples" / "toy-json"], ids=lambda path: path.name)
def test_imports_of_a_new_format_point_one_way(root):
    paths = [path for path in root.rglob("*.py") if "tests" not in path.parts and "__pycache__" not in path.parts]
    assert len(paths) >= 5
    found = [line for path in paths for line in violations(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("generators/formats/x.py", "import conformance.rules.base"),
        ("generators/x.py", "def f():\n    from pyspark.sql import Row"),
        ("generators/formats/x.py", "from spark_checks.decoders import x"),
        ("conformance/x.py", "from importlib import import_module\nimport_module('pyspark.sql')"),
        ("conformance/x.py", "import importlib\nimportlib.import_module(f'spark_checks.decoders.{1}')"),
        ("conformance/commands/cli.py", "NAME = 'spark_checks.services.engine'"),
        ("conformance/engines/child.py", "import pyspark"),
        ("spark_checks/decoders/x.py", "from generators.formats.x import PROFILES"),
        ("spark_checks/decoders/x.py", "from generators import formats"),
    ],
)
def test_a_wrong_import_is_seen(path, text):
    assert violations(path, text) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("conformance/engines/child.py", "import importlib\nimportlib.import_module('spark_checks.services.engine')"),
        ("conformance/x.py", '"""The Spark side is spark_checks."""\nfrom generators.model import Table'),
        ("spark_checks/decoders/x.py", "from generators.model import Table\nfrom pyspark.sql import functions"),
        ("generators/formats/x.py", "from .base import Format"),
        ("generators/formats/__init__.py", "from . import base"),
    ],
)
def test_a_right_import_is_left_alone(path, text):
    assert violations(path, text) == []


def loaded_after(code: str, *argv: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after the code."""
    listing = "print(' '.join(sys.modules), file=sys.stderr)"
    script = f"import sys\nsys.argv[1:] = {list(argv)!r}\ntry:\n    {code}\nfinally:\n    {listing}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["formats", "--format", "json"]])
def test_the_command_line_starts_without_spark_and_kafka(argv):
    modules = loaded_after("from _cdc_conformance_pytest import main; main()", *argv)
    assert "conformance" in modules
    assert modules.isdisjoint({"pyspark", "py4j", "pandas", "testcontainers", "confluent_kafka", "spark_checks"})


def test_pytest_loads_none_of_the_packages_with_the_plugin():
    modules = loaded_after("import _cdc_conformance_pytest")
    assert "_cdc_conformance_pytest" in modules
    assert modules.isdisjoint({"generators", "conformance", "spark_checks", "pyspark", "hypothesis", "pytest", "click"})
