import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("generators", "conformance", "spark_checks")
SPARK = ("pyspark", "py4j")
# What may not be imported below each folder.
FORBIDDEN = {
    "generators": ("conformance", "spark_checks", *SPARK),
    "conformance": ("spark_checks", *SPARK),
}
# Two independent readings of a format: a decoder shares no code with a writer. All that decoders
# may import, beside Python's own.
DECODERS = "spark_checks/decoders/"
ALLOWED = ("spark_checks.decoders", "generators.model", "pyspark", "pyarrow", "cramjam")
# Modules that every room of their package, and of the packages above it, may import.
BASE = {
    *(
        "generators.model",
        "generators.errors",
        "generators.profile_tables",
        "generators.profiles",
        "generators.wire_format",
        "conformance.files",
        "conformance.text",
    ),
    *("conformance.closing", "conformance.lanes", "conformance.shadow", "conformance.sheets"),
}
# Where the name of the Spark side may stand as text: what finds it, what says when it is hidden,
# and the picture of the rooms.
NAMES_SPARK_CHECKS = {
    *(f"conformance/engines/{name}.py" for name in ("child", "live", "specs")),
    *("conformance/shadow.py", "conformance/pages/rooms.py"),
}

Graph = Mapping[str, set[str]]


# A format as `new-format` lays it out: a checkout's folders below each container's name.
SKELETON = ROOT / "conformance" / "commands" / "skeleton"


def sources(folder: str) -> list[Path]:
    paths = (ROOT / folder).rglob("*.py")
    return sorted(
        path
        for path in paths
        if "__pycache__" not in path.parts and not path.is_relative_to(SKELETON)
    )


def imported(tree: ast.AST, module: str) -> Iterator[str]:
    """Every dotted name that a module imports, wherever it stands, statically or by a literal given
    to import_module.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=base, names=names, level=level):
                parent = module.split(".")[:-level] if level else []
                origin = ".".join([*parent, *([base] if base else [])])
                yield from (f"{origin}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]) if (
                name
                in {
                    "import_module",
                    "__import__",
                }
            ):
                literal = (
                    first.values[0] if isinstance(first, ast.JoinedStr) and first.values else first
                )
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    yield literal.value


def within(name: str, parent: str) -> bool:
    return name == parent or name.startswith(f"{parent}.")


def violations(path: str, text: str) -> list[str]:
    module = path.removesuffix(".py").replace("/", ".")
    banned = [
        name
        for folder, names in FORBIDDEN.items()
        if path.startswith(f"{folder}/")
        for name in names
    ]
    if path in NAMES_SPARK_CHECKS:
        banned.remove("spark_checks")
    tree = ast.parse(text, path)
    names = list(imported(tree, module))
    lines = [f"{path} imports {name}" for name in names if any(within(name, ban) for ban in banned)]
    if path.startswith(DECODERS):
        lines += [
            f"{path} imports {name}"
            for name in names
            if name.partition(".")[0] not in sys.stdlib_module_names
            and not any(within(name, parent) for parent in ALLOWED)
        ]
    if path.startswith("conformance/") and path not in NAMES_SPARK_CHECKS:
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        lines += [
            f"{path}:{node.lineno} names spark_checks"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
            if node.value == "spark_checks" or node.value.startswith("spark_checks.")
        ]
    return lines


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package):
    paths = sources(package)
    assert paths
    lines = [
        line
        for path in paths
        for line in violations(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert lines == []


@cache
def names_of(path: Path) -> frozenset[str]:
    """Every name that a file imports."""
    return frozenset(imported(ast.parse(path.read_text("utf-8")), ""))


def importing(name: str, *packages: str) -> set[str]:
    """The files of the packages that import it."""
    files = {
        path
        for package in packages
        for path in sources(package)
        if any(within(target, name) for target in names_of(path))
    }
    return {path.relative_to(ROOT).as_posix() for path in files}


def rooms_for(paths: Iterable[Path]) -> set[str]:
    """The rooms of the packages above the generators that these files import."""
    names = {name for path in paths for name in names_of(path)}
    return {
        ".".join(n.split(".")[:2])
        for n in names
        if n.partition(".")[0] in PACKAGES and not within(n, "generators")
    }


def test_recorders_are_imported_by_their_command_alone():
    assert importing("recorders", *PACKAGES) == {"conformance/commands/record.py"}
    assert rooms_for(sources("recorders")) == {
        f"conformance.{name}" for name in ("brokers", "files", "rules", "text")
    }


def test_nothing_imports_the_scoreboard():
    assert importing("scoreboard", *PACKAGES, "recorders") == set()
    rooms = {
        f"conformance.{name}"
        for name in (
            *("brokers", "cases", "engines", "files", "judging", "pipelines", "reports", "rules"),
            *("sheets", "text"),
        )
    }
    judged = ("spark", "recipes")
    assert rooms_for(p for p in sources("scoreboard") if p.parent.name not in judged) == rooms


@pytest.mark.parametrize(
    "root", [*SKELETON.iterdir(), ROOT / "examples" / "toy-json"], ids=lambda path: path.name
)
def test_imports_of_a_new_format_point_one_way(root):
    paths = [
        path
        for path in root.rglob("*.py")
        if "tests" not in path.parts and "__pycache__" not in path.parts
    ]
    assert len(paths) == 2
    lines = [
        line
        for path in paths
        for line in violations(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert lines == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("generators/x.py", "def f():\n    from pyspark.sql import Row"),
        ("conformance/x.py", "from importlib import import_module\nimport_module('pyspark.sql')"),
        (
            "conformance/x.py",
            "import importlib\nimportlib.import_module(f'spark_checks.decoders.{1}')",
        ),
        ("conformance/commands/cli.py", "NAME = 'spark_checks.services.engine'"),
        ("conformance/engines/child.py", "import pyspark"),
        ("spark_checks/decoders/x.py", "from generators.formats.x import PROFILES"),
        ("spark_checks/decoders/x.py", "from generators import mysql"),
        ("spark_checks/decoders/x.py", "def f():\n    import generators.errors"),
        ("spark_checks/decoders/x.py", "from conformance.rules.rules import rules"),
        *(
            ("spark_checks/decoders/x.py", "from ..liars import base"),
            ("spark_checks/decoders/x.py", "import fastavro"),
        ),
    ],
)
def test_a_wrong_import_is_seen(path, text):
    assert violations(path, text) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "conformance/engines/child.py",
            "import importlib\nimportlib.import_module('spark_checks.services.engine')",
        ),
        (
            "conformance/x.py",
            '"""The Spark side is spark_checks."""\nfrom generators.model import Table',
        ),
        (
            "spark_checks/decoders/x.py",
            "import json\nfrom generators.model import Table\nfrom pyspark.sql import functions",
        ),
        (
            "spark_checks/decoders/x.py",
            "from generators import model\nfrom .families import avro\nfrom spark_checks.decoders import y",
        ),
        *(
            ("generators/formats/x.py", "from .base import Format"),
            ("generators/formats/__init__.py", "from . import base"),
        ),
    ],
)
def test_a_right_import_is_left_alone(path, text):
    assert violations(path, text) == []


def texts() -> dict[str, str]:
    """The source text of every module of the three packages, by dotted name; a package is named
    without `__init__`.
    """
    return {
        path.relative_to(ROOT)
        .as_posix()
        .removesuffix(".py")
        .removesuffix("/__init__")
        .replace("/", "."): path.read_text("utf-8")
        for package in PACKAGES
        for path in sources(package)
    }


def graph(modules: Mapping[str, str], packages: set[str]) -> Graph:
    """Which modules each module imports, as `import` statements say, wherever they stand."""
    arrows: dict[str, set[str]] = {}
    for module, text in modules.items():
        tree = ast.parse(text)
        statements = [
            node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        names = imported(
            ast.Module([*statements], []), f"{module}.__init__" if module in packages else module
        )
        targets = (name if name in modules else name.rpartition(".")[0] for name in names)
        arrows[module] = {name for name in targets if name in modules and name != module}
    return arrows


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def rooms(modules: Graph) -> Graph:
    """Which rooms each room imports: a room is a package's folder, or a module beside the
    folders.
    """
    arrows: dict[str, set[str]] = {room(module): set() for module in modules}
    for module, targets in modules.items():
        arrows[room(module)] |= {room(target) for target in targets} - {room(module)}
    return arrows


def circle(arrows: Graph) -> list[str]:
    """The nodes of a circle in order, empty when there is none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def said(docstring: str) -> set[str]:
    """The rooms of its own package that a room says it imports."""
    sentence = re.search(r"\bImports\s+(.*?)\.(?:\s|$)", docstring, re.DOTALL)
    if sentence is None or sentence[1].startswith("nothing"):
        return set()
    return set(re.findall(r"`([^`]+)`", sentence[1]))


def wrong_arrows(name: str, targets: set[str], docstring: str) -> list[str]:
    """Imports of a room within its package that its docstring does not say, and those that it says
    and are not.
    """
    package = name.partition(".")[0]
    real = {
        target.partition(".")[2] for target in targets - BASE if target.startswith(f"{package}.")
    }
    stated = said(docstring) - BASE
    return [f"{name} imports {target} and does not say so" for target in sorted(real - stated)] + [
        f"{name} says that it imports {target}" for target in sorted(stated - real)
    ]


def private_imports(modules: Mapping[str, str], packages: set[str]) -> list[str]:
    """Imports of a module or a name with a leading underscore from another room."""
    return [
        f"{module} imports {name}"
        for module, text in modules.items()
        for name in imported(
            ast.parse(text), f"{module}.__init__" if module in packages else module
        )
        if name.partition(".")[0] in PACKAGES and room(name) != room(module)
        if any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
    ]


TEXTS = texts()
FOLDERS = {
    path.parent.relative_to(ROOT).as_posix().replace("/", ".")
    for package in PACKAGES
    for path in sources(package)
}
NAMES = sorted({room(module) for module in TEXTS} - {*PACKAGES} - BASE)


@pytest.fixture(scope="module")
def known() -> Graph:
    """The graph of the packages."""
    return graph(TEXTS, FOLDERS)


def test_the_graph_has_the_arrows_that_are_known(known):
    assert "generators.model" in known["spark_checks.decoders.maxwell_json"]
    assert "conformance.files" in known["conformance.reports"], "imported inside a function"
    assert "conformance.judging.results" in known["conformance.reports"], (
        "imported for type checking"
    )
    assert rooms(known)["conformance.cases"] >= {"generators.drawing", "generators.model"}
    assert len(known) > 250 and sum(map(len, known.values())) > 1_000


def users(arrows: Graph, package: str) -> set[str]:
    """The modules outside of a package that import something of it."""
    return {
        name
        for name, targets in arrows.items()
        if not within(name, package) and any(within(t, package) for t in targets)
    }


def test_nothing_imports_the_command_line(known):
    assert users(known, "conformance.commands") == set()
    assert users({"p.a": {"p.b.x"}, "p.b.x": {"p.b.y"}, "p.c": set()}, "p.b") == {"p.a"}


def test_no_circle_of_imports_between_modules(known):
    assert circle(known) == []


def test_no_circle_of_imports_between_rooms(known):
    assert circle(rooms(known)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_room_imports_what_its_docstring_says(name, known):
    assert (
        wrong_arrows(name, rooms(known)[name], ast.get_docstring(ast.parse(TEXTS[name])) or "")
        == []
    )


def test_nothing_private_is_imported_from_another_room():
    assert private_imports(TEXTS, FOLDERS) == []


@pytest.mark.parametrize(
    "modules",
    [
        {"p.a.x": "import p.b.y", "p.b.y": "from p.a import x"},
        {"p.a.x": "import p.b.y", "p.b.y": "def f():\n    from p.a.x import name"},
        {"p.a.x": "from p.b.y import name", "p.b.y": "if TYPE_CHECKING:\n    from p.a.x import T"},
        {"p.a.x": "from ..b import y", "p.b.y": "from ..a.x import z"},
        {"p.a": "from p.b.y import name", "p.b.y": "from p.a import name"},
    ],
)
def test_a_circle_is_seen(modules):
    assert set(circle(graph(modules, {"p.a"} & set(modules)))) == set(modules)


def test_a_circle_of_rooms_is_seen_where_modules_have_none():
    modules = graph(
        {"p.a.x": "import p.b.y", "p.b.y": "", "p.b.z": "import p.a.w", "p.a.w": ""}, set()
    )
    assert (circle(modules), set(circle(rooms(modules)))) == ([], {"p.a", "p.b"})


@pytest.mark.parametrize(
    ("targets", "docstring", "wrong"),
    [
        ({"conformance.rules"}, "A room.\n\nImports `rules`.", 0),
        ({"conformance.rules", "conformance.files", "generators.drawing"}, "Imports\n`rules`.", 0),
        ({"conformance.files"}, "Imports nothing of `conformance` beyond this room.", 0),
        ({"conformance.rules"}, "Imports nothing of `conformance` beyond this room.", 1),
        *(
            ({"conformance.rules"}, "A room that imports `rules`.", 1),
            ({"conformance.rules"}, "Imports `rules` and `cases`.", 1),
        ),
        ({"conformance.rules"}, "Imports `cases`. `rules` is another.", 2),
        ({"generators.model"}, "Imports `generators.model`, Spark and Arrow alone.", 0),
    ],
)
def test_a_room_is_held_to_its_docstring(targets, docstring, wrong):
    assert len(wrong_arrows("conformance.x", targets, docstring)) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        *(
            ("from conformance.brokers import _container", 1),
            ("def f():\n    import conformance.brokers._container", 1),
        ),
        *(
            ("from conformance.brokers.broker import _name", 1),
            ("from conformance.engines import _command_lines", 0),
        ),
        ("from _cdc_conformance_pytest import main\nfrom conformance.brokers import broker", 0),
        ("from generators import __version__", 0),
    ],
)
def test_a_private_import_is_seen(text, wrong):
    assert len(private_imports({"conformance.engines.x": text}, set())) == wrong


def loaded_after(code: str, *argv: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after the code."""
    listing = "print(' '.join(sys.modules), file=sys.stderr)"
    script = f"import sys\nsys.argv[1:] = {list(argv)!r}\ntry:\n    {code}\nfinally:\n    {listing}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["formats", "--format", "json"]])
def test_the_command_line_starts_without_spark_and_kafka(argv):
    modules = loaded_after("from _cdc_conformance_pytest import main; main()", *argv)
    assert "conformance" in modules
    assert modules.isdisjoint(
        {"pyspark", "py4j", "pandas", "testcontainers", "confluent_kafka", "spark_checks"}
    )


def test_pytest_loads_none_of_the_packages_with_the_plugin():
    modules = loaded_after("import _cdc_conformance_pytest")
    assert "_cdc_conformance_pytest" in modules
    assert modules.isdisjoint(
        {"generators", "conformance", "spark_checks", "pyspark", "hypothesis", "pytest", "click"}
    )
