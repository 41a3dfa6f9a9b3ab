"""SparkEngine: loads decoders, reads records from Kafka or a table, decodes them and returns the
result as Arrow.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import inspect
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext, cloudpickle
from pyspark.errors import AnalysisException, PySparkException, PySparkTypeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from conformance.engines.spark_conf import FIRST_OFFSET, IN_PARTITION, OTHER, cluster_url
from conformance.engines.specs import LIAR, SERVICES, find_place
from conformance.judging.output import ENVELOPE, REQUIRED
from generators.errors import first_line
from generators.model import Deployment, Table
from generators.storage import codec
from generators.wire_format import FORMATS
from spark_checks.liars.liar import Liar, liars
from spark_checks.services import cluster, renewal
from spark_checks.services.errors import summary
from spark_checks.services.session import UnsettableError, session
from spark_checks.services.topics import source

_MOST_PARTITIONS: Final = 64
"""No topic of the harness has more partitions."""
TASK_RECORDS: Final = 20_000
"""Records from Kafka per partition of a decode call."""
OWN: Final = (*cluster.OWN, "_cdc_conformance_pytest")
"""The harness's own modules."""
CLAIMS: Final = ("profiles", "kinds", "columns", "types", "conventions")
"""The keys of a decoder's CAPABILITIES: what of a format it says that it can read."""


class DecoderError(Exception):
    """A decoder that cannot be loaded or called: a user's error, shown without a stack trace."""


@dataclass(frozen=True, slots=True)
class Decoder:
    """A loaded decoder: its functions by level (1: texts, 2: typed rows), and the constant
    CAPABILITIES of its module, which says what it can read.
    """

    name: str
    functions: Mapping[int, Callable[..., Any]]
    capabilities: Mapping[str, list[str]]

    def __call__(
        self, level: int, records: DataFrame, table: Table | None, deployment: Deployment
    ) -> DataFrame:
        """Decodes at a level, which the decoder must have. Raises DecoderError if it returns no
        DataFrame.
        """
        function = self.functions[level]
        arguments: list[Any] = [records] if level == 1 else [records, table]
        keywords = {"deployment": deployment} if _takes(function, "deployment") else {}
        result = function(*arguments, **keywords)
        if not hasattr(result, "schema") or not hasattr(result, "toArrow"):
            kind = type(result)
            returned = (
                kind.__name__
                if kind.__module__ == "builtins"
                else f"{kind.__module__}.{kind.__name__}"
            )
            raise DecoderError(f"decoder {self.name} returned {returned}, not a DataFrame of Spark")
        return result  # type: ignore[no-any-return]


def load(spec: str, level: str = "auto") -> Decoder:
    """Loads the decoder that `spec` names: `module:function`, `path/file.py:function`, or `module`
    or `path/file.py` with both functions. A liar (a decoder that is wrong on purpose) has a form of
    its own.

    `level` is auto, changes (level one), rows (level two) or both; auto takes a function named
    `decode_rows...` for level two, any other for level one. Raises DecoderError if there is no such
    decoder, or it cannot be used (`make_decoder`).
    """
    if spec.startswith(LIAR):
        liar = _liar(spec)
        return Decoder(spec, {liar.level: liar.decode}, {})
    source, name = find_place(spec)
    module = load_module(source, spec)
    target: Any = module
    if name:
        for part in name.split("."):
            if not hasattr(target, part):
                decode_names = [n for n in vars(module) if n.startswith("decode")]
                raise DecoderError(
                    f"decoder {spec}: {source} has no {name!r}; it has"
                    f" {', '.join(decode_names) or 'no decode function'}"
                )
            target = getattr(target, part)
    return make_decoder(spec, target, getattr(module, "CAPABILITIES", {}), level)


def make_decoder(spec: str, target: Any, claims: Any, level: str = "auto") -> Decoder:
    """The decoder of `target`: a function, or an object, a module or a class with the functions
    `decode` or `decode_rows`. `claims` are its CAPABILITIES, `spec` is its name for errors, `level`
    as in `load`. Raises DecoderError if it has no function for the level, if one cannot be called
    with a decoder's arguments, or if the CAPABILITIES are malformed.
    """
    name = getattr(target, "__name__", spec.rpartition(":")[2])
    functions: dict[int, Callable[..., Any]] = {}
    if not (
        callable(target)
        or inspect.ismodule(target)
        or hasattr(target, "decode")
        or hasattr(target, "decode_rows")
    ):
        kind = type(target).__name__
        raise DecoderError(
            f"decoder {spec}: {name!r} is {kind}, not a function or an object with decode functions"
        )
    if callable(target) and not inspect.isclass(target) and not hasattr(target, "decode"):
        is_level_two = level == "rows" or (level != "changes" and name.startswith("decode_rows"))
        functions[2 if is_level_two else 1] = target
    else:
        if inspect.isclass(target):
            try:
                target = target()
            except Exception as error:
                raise DecoderError(
                    f"decoder {spec}: {name}() raised {type(error).__name__}: {error}"
                ) from error
        for number, attribute in ((1, "decode"), (2, "decode_rows")):
            if hasattr(target, attribute):
                functions[number] = getattr(target, attribute)
    levels = {"changes": {1}, "rows": {2}}.get(level, {1, 2})
    functions = {n: f for n, f in functions.items() if n in levels}
    if not functions:
        raise DecoderError(
            f"decoder {spec}: nothing for --level {level}; name a function decode... or"
            " decode_rows..."
        )
    for number, function in functions.items():
        _check_signature(spec, number, function)
    if not isinstance(claims, Mapping) or not all(
        isinstance(v, list | tuple | set | frozenset) for v in claims.values()
    ):
        raise DecoderError(
            f"decoder {spec}: CAPABILITIES must map {', '.join(CLAIMS)} to lists of globs"
        )
    unknown = set(claims) - set(CLAIMS)
    if unknown:
        raise DecoderError(
            f"decoder {spec}: CAPABILITIES has {sorted(unknown)}; known are {', '.join(CLAIMS)}"
        )
    return Decoder(spec, functions, {k: list(v) for k, v in claims.items()})


def _liar(spec: str) -> Liar:
    """The liar (a decoder that is wrong on purpose, for the self test) that `spec` names by its
    format and its own name. Raises DecoderError if there is none.
    """
    fmt, _, name = spec.removeprefix(LIAR).partition("/")
    # The name of a format becomes part of a path; a path of a stranger's table must not.
    for liar in liars(fmt) if fmt in FORMATS else ():
        if liar.name == name:
            return liar
    raise DecoderError(f"unknown decoder {spec}")


def load_module(
    source: str, spec: str, what: Literal["decoder", "pipeline"] = "decoder"
) -> ModuleType:
    """Imports the module named `source`, or that of the `.py` file at this path. `spec` and `what`
    are for errors: the user's words, and whether he named a decoder or a pipeline. Raises
    DecoderError if there is no such file, or the import fails.
    """
    try:
        if source.endswith(".py"):
            path = Path(source).resolve()
            if not path.is_file():
                raise DecoderError(f"{what} {spec}: there is no file {source}")
            sys.path.append(str(path.parent))
            module_spec = importlib.util.spec_from_file_location(f"_cdc_user_{path.stem}", path)
            assert module_spec is not None and module_spec.loader is not None
            module = importlib.util.module_from_spec(module_spec)
            sys.modules[module_spec.name] = module
            module_spec.loader.exec_module(module)
            # Python workers cannot import a file by its path.
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
            return module
        return importlib.import_module(source)
    except DecoderError:
        raise
    except (Exception, SystemExit) as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == source.partition(".")[0]
        forms = {
            "decoder": "; a decoder is module:function, path/file.py:function or cmd:COMMAND",
            "pipeline": "; a pipeline is path/file.py, or a module",
        }
        legal = forms[what] if absent else ""
        raise DecoderError(
            f"{what} {spec} cannot be imported: {type(error).__name__}: {error}{legal}"
        ) from error


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function can be called with the keyword argument `name`. Raises ValueError for a
    function of C, of which Python knows no signature.
    """
    parameters = inspect.signature(function).parameters.values()
    return any(
        p.kind is p.VAR_KEYWORD
        or (p.name == name and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        for p in parameters
    )


def _check_signature(spec: str, level: int, function: Callable[..., Any]) -> None:
    """Raises DecoderError if the user's decoder function of that level cannot be called with
    records (level two: and a table), and with `deployment` if it takes that.
    """
    if not callable(function):
        raise DecoderError(
            f"decoder {spec}: its level-{level} function is {type(function).__name__}, not a"
            " function"
        )
    try:
        signature = inspect.signature(function)
    except ValueError as error:
        raise DecoderError(f"decoder {spec}: {error}; a decoder is a function of Python") from None
    arguments = [None] * level
    keywords = {"deployment": None} if _takes(function, "deployment") else {}
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        parameters = "(records)" if level == 1 else "(records, table)"
        raise DecoderError(
            f"decoder {spec}: signature {signature} does not take {parameters}, with an optional"
            f" keyword deployment: {error}"
        ) from None


class SparkEngine:
    """Serves the requests of `conformance.engines.child` on one SparkSession. It keeps the records
    that a request opened under a handle, the loaded decoders, and the session's settings of the
    last call, with the values that they replaced.
    """

    def __init__(self) -> None:
        self._spark: SparkSession | None = None
        self._records_by_handle: dict[str, DataFrame] = {}
        self._conf: dict[str, str] | None = {}
        self._settings_before: dict[str, str | None] = {}
        self._configuring = threading.Lock()
        self._decoders: dict[tuple[str, str], Decoder] = {}
        self._given_decoders: dict[str, tuple[Any, Any]] = {}
        self._cluster_url = ""
        self._sent_modules: set[str] = set()

    @property
    def spark(self) -> SparkSession:
        """The Spark session that this engine runs on. Raises RuntimeError before the request
        `start`.
        """
        if self._spark is None:
            raise RuntimeError("the session has not been started")
        return self._spark

    def handle(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answers one request of the parent process. Several threads may call this at once, if
        their requests have the same settings of the session.
        """
        if request["op"] in ("open", "decode", *SERVICES):
            self._configure(request.get("conf", {}))
        match request["op"]:
            case "start":
                lines = self._start(request)
                return {"version": self.spark.version, "lines": lines}
            case "load":
                decoder = self._decoder(request["decoder"], request["level"])
                return {
                    "levels": sorted(decoder.functions),
                    "capabilities": dict(decoder.capabilities),
                }
            case "sources":
                return {"files": self._sources(request["forget"])}
            case "open":
                return {"rows": self._keep_records(request)}
            case "release":
                self._release(request["handle"])
                return {}
            case "decode":
                return self._decode(request)
            case "renew":
                return renewal.renew(self.spark, request["id"])
            case "end":
                return self._end(request["limit_s"])
            case "liars":
                return {
                    "liars": [
                        {
                            "name": x.name,
                            "level": x.level,
                            "convicts": x.convicts,
                            "why": x.why,
                            "scenario": x.scenario,
                        }
                        for x in liars(request["format"])
                    ]
                }
            case service if service in SERVICES:
                module = importlib.import_module(f"spark_checks.services.{SERVICES[service]}")
                # Nested, so that an answer's keys cannot collide with a reply's.
                return {
                    "answer": module.handle(
                        self.spark, request, lambda spec: self._decoder(spec, "auto")
                    )
                }
            case unknown:
                raise RuntimeError(f"unknown request {unknown!r}")

    def take(self, pickled_decoders: Mapping[str, str]) -> None:
        """Keeps the decoders that the parent process sent, by their names. Each is the base64 of a
        pickled pair: the decoder and its CAPABILITIES. Raises DecoderError if one cannot be
        unpickled here.
        """
        for name, pickled in pickled_decoders.items():
            try:
                # These are objects of the caller's own process.
                decoder_bytes = base64.b64decode(pickled)
                self._given_decoders[name] = pickle.loads(decoder_bytes)  # noqa: S301
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise DecoderError(
                    f"decoder {name} cannot be made in another process: {why}"
                ) from error

    def _start(self, request: Mapping[str, Any]) -> list[str]:
        """Starts the Spark session of the request, and returns the lines that the user should read
        about its start.
        """
        conf, home, lines = request["conf"], os.environ.get("TMPDIR", ""), list[str]()
        self.take(request["given"])
        try:
            self._spark = session(
                jars=request["jars"],
                cores=request["cores"],
                conf=conf,
                home=home,
                note=lines.append,
            )
        except UnsettableError as error:
            raise DecoderError(str(error)) from error
        if not cluster.is_local(self._spark):
            self._cluster_url = cluster_url(conf)
            cluster.send_harness_modules(self._spark, home)
        if not renewal.take_over():
            warm_up(self._spark)
        return lines

    def lacking(self, error: BaseException) -> str:
        """What a machine of the session's Spark cluster (a Spark Connect server is one, too) lacks,
        if that is why a request failed; else "", as for a session on this machine alone.
        """
        return cluster.missing_on_cluster(error, self._cluster_url) if self._cluster_url else ""

    def jvm_ended(self, error: Exception) -> bool:
        """Whether the session's Java process has ended, after a request failed with this error."""
        process = getattr(SparkContext._gateway, "proc", None)
        if self._spark is None or process is None:
            return False
        lost = isinstance(error, Py4JError | ConnectionError | EOFError) and not isinstance(
            error, Py4JJavaError
        )
        try:
            # The connection is lost shortly before the process ends.
            process.wait(2.0 if lost else 0)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> None:
        """Stops the session."""
        if self._spark is not None:
            self._spark.stop()

    def _end(self, limit_s: float) -> dict[str, Any]:
        """Lets the JVM exit normally, so that it writes its class archive, and waits for it. The
        answer has its exit code; None if this process has not started a JVM.
        """
        self.stop()
        process = getattr(SparkContext._gateway, "proc", None)
        self._spark = None
        if process is None:
            return {"code": None}
        # Py4J's server exits at the end of its input.
        process.stdin.close()
        return {"code": process.wait(limit_s)}

    def _configure(self, conf: Mapping[str, str]) -> None:
        """Sets exactly these settings in the session: those that the call before had set get back
        the values that they had. The value OTHER stands for the opposite of the session's boolean.
        The settings FIRST_OFFSET and IN_PARTITION are not Spark's, and are left out. Raises
        DecoderError for a setting that the session does not take.
        """
        with self._configuring:
            if conf == self._conf:
                return
            for key, old in self._settings_before.items():
                if old is None:
                    self.spark.conf.unset(key)
                else:
                    self.spark.conf.set(key, old)
            self._conf, self._settings_before = None, {}
            for key, value in conf.items():
                if key not in (FIRST_OFFSET, IN_PARTITION):
                    old = self.spark.conf.get(key, None)
                    if value == OTHER:
                        value = "false" if self.spark.conf.get(key) == "true" else "true"
                    try:
                        self.spark.conf.set(key, value)
                    except PySparkException as error:
                        raise DecoderError(
                            f"the session does not take {key}={value}: {first_line(error)}"
                        ) from error
                    self._settings_before[key] = old
            self._conf = dict(conf)

    def _decoder(self, spec: str, level: str) -> Decoder:
        """The decoder of that spec and level, loaded once for all requests; on a cluster the
        modules that it needs are sent to the executors.
        """
        key = (spec, level)
        if key not in self._decoders:
            self._decoders[key] = (
                make_decoder(spec, *self._given_decoders[spec], level)
                if spec in self._given_decoders
                else load(spec, level)
            )
            if self._cluster_url and not self._sent_modules.issuperset(modules := self._modules()):
                cluster.send(self.spark, os.environ.get("TMPDIR", ""), modules)
                self._sent_modules.update(modules)
        return self._decoders[key]

    def _modules(self) -> dict[str, Path]:
        """The files of the user's imported modules, by module name: those below the working
        directory or beside a decoder's file. Installed packages and the harness's own modules are
        left out.
        """
        own_folders = {
            Path(sys.modules[name].__file__ or "").resolve().parent
            for name in OWN
            if name in sys.modules
        }
        decoder_files = [find_place(spec).file for spec, _ in self._decoders]
        places = {Path.cwd(), *(file.parent for file in decoder_files if file)}
        files: dict[str, Path] = {}
        for name, module in list(sys.modules.items()):
            file = Path(getattr(module, "__file__", None) or "/").resolve()
            installed = "site-packages" in file.parts or not own_folders.isdisjoint(file.parents)
            if file.suffix == ".py" and not places.isdisjoint(file.parents) and not installed:
                files[name] = file
        return files

    def _sources(self, forget: bool) -> list[str]:
        """The paths of the user's imported modules (see `_modules`). With `forget` these modules
        and all loaded decoders are dropped, so that changed files are loaded again.
        """
        files = self._modules()
        if forget:
            self._decoders.clear()
            # Two versions of a file may have one size and one second of modification, by which a
            # cached compilation is valid.
            sys.dont_write_bytecode = True
            importlib.invalidate_caches()
            for name in files:
                del sys.modules[name]
        return sorted(map(str, files.values()))

    def _table(self, path: str) -> DataFrame:
        """The rows of a Parquet file of the harness as a DataFrame of the session."""
        return cluster.table(self.spark, path)

    def _keep_records(self, request: Mapping[str, Any]) -> int:
        """Opens the records of a request, from a Parquet file or from Kafka, under the request's
        handle, and returns their number. Spark keeps them for later calls, except those of a local
        file, which each call reads again.
        """
        self._release(handle := request["handle"])
        path, ranges = request["parquet"], request["ranges"]
        if path and cluster.is_local(self.spark):
            # Each call reads the file: to keep its rows takes a job of its own, and plans that are
            # compared with what is kept.
            self._records_by_handle[handle] = self._table(path)
            return int(pq.read_metadata(path).num_rows)
        if path:
            frame = self._table(path)
        else:
            frame = read_kafka(self.spark, request["kafka"], request["topic"], ranges)
            # A task costs as much as decoding thousands of messages: its plan is shipped and its
            # expressions are set up.
            frame = frame.coalesce(
                1 + sum(high - low + 1 for _, _, low, high in ranges) // TASK_RECORDS
            )
        self._records_by_handle[handle] = frame.persist()
        return frame.count()

    def _release(self, handle: str) -> None:
        """Forgets the records that were opened under a handle, if any, and frees what Spark kept of
        them.
        """
        frame = self._records_by_handle.pop(handle, None)
        if frame is not None:
            frame.unpersist()

    def refusal(self, request: Mapping[str, Any], error: Exception) -> dict[str, Any]:
        """The reply to a request that raised: the error's text and its sort, which says whether the
        request, the decoder or the harness is at fault.
        """
        if isinstance(error, DecoderError):
            return {"error": "usage", "message": str(error)}
        if lacking := self.lacking(error):
            return {"error": "harness", "message": lacking}
        kind = "raised" if request["op"] in SERVICES else "harness"
        if request["op"] == "decode":
            hopeless = isinstance(error, AnalysisException) or self.fails_without_records(
                request, type(error)
            )
            kind = "plan" if hopeless else "raised"
        return {"error": kind, "message": f"{type(error).__name__}: {summary(error)}"}

    def fails_without_records(self, request: Mapping[str, Any], error: type[Exception]) -> bool:
        """Whether a decode request that raised an error of the class `error` raises it even when it
        gets no records: then no message is to blame, but the decoder's plan.
        """
        try:
            self._plan_output({**request, "ranges": []})
        except Exception as early:  # noqa: BLE001 - whatever a decoder raises
            return type(early) is error
        return False

    def _decode(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Decodes the records of a request, writes the decoder's rows to the request's Arrow file,
        and returns their number.
        """
        decoded = self._plan_output(request).toArrow()
        with (
            pa.OSFile(request["out"], "wb") as file,
            pa.ipc.new_file(file, decoded.schema) as writer,
        ):
            writer.write_table(decoded)
        return {"rows": decoded.num_rows}

    def _plan_output(self, request: Mapping[str, Any]) -> DataFrame:
        """The decoder's output for the records of a request, not computed yet, with the columns
        that the judge reads. If the request asked for other offsets or partitions, the decoder gets
        these, and its output has the records' own again.
        """
        level = request["level"]
        decoder = self._decoder(request["decoder"], {1: "changes", 2: "rows"}[level])
        records = self._records_by_handle[request["handle"]].where(in_ranges(request["ranges"]))
        if request["repartition"]:
            records = records.repartition(request["repartition"])
        first, partition_size = (
            int(request.get("conf", {}).get(name, 0)) for name in (FIRST_OFFSET, IN_PARTITION)
        )
        if partition_size:
            split = {
                "partition": (
                    f"CAST(partition + {_MOST_PARTITIONS} * (offset DIV {partition_size}) AS int)"
                ),
                "offset": f"offset % {partition_size}",
            }
            records = records.withColumns({name: F.expr(sql) for name, sql in split.items()})
        if first:
            records = records.withColumn("offset", F.col("offset") + F.lit(first))
        table = codec.load_table(request["table"]) if request["table"] is not None else None
        deployment = codec.load_deployment(request["deployment"])
        frame = decoder(level, records, table, deployment)
        for name, expression in request["mapping"].items():
            frame = frame.withColumn(name, F.expr(expression))
        if first and "offset" in frame.columns:
            frame = frame.withColumn("offset", F.col("offset").cast("bigint") - F.lit(first))
        if partition_size and {"partition", "offset"} <= set(frame.columns):
            topic_columns = {
                "partition": f"partition % {_MOST_PARTITIONS}",
                "offset": f"partition DIV {_MOST_PARTITIONS} * {partition_size} + offset",
            }
            frame = frame.withColumns({name: F.expr(sql) for name, sql in topic_columns.items()})
        return contract(frame)


CONTRACT: Final = frozenset((*REQUIRED[1], *ENVELOPE))
"""The columns that the judge reads (docs/writing-a-decoder.md)."""


_ZONE: Final[Mapping[str, Any]] = (
    {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
)
"""The time zone for `to_arrow_schema`, which has this parameter from Spark 4.2 on: instants have a
type of Arrow only in a zone.
"""


def contract(frame: DataFrame) -> DataFrame:
    """The output with only the columns that the judge reads, and with every field nullable, since
    Arrow refuses a NULL struct with a field that is NOT NULL. An output in which that changes
    nothing, or one with two columns of one name, is returned as it is. Raises DecoderError for a
    column of a type that Arrow does not have.
    """
    fields = frame.schema.fields
    contract_fields = [field for field in fields if field.name in CONTRACT]
    distinct = len({field.name for field in contract_fields}) == len(contract_fields)
    try:
        to_arrow_schema(StructType(contract_fields if distinct else fields), **_ZONE)
    except PySparkTypeError as error:
        raise DecoderError(f"a column of the output cannot be judged: {error}") from error
    loose = [_nullable(field.dataType) for field in contract_fields]
    # To plan another projection takes as long as to decode a few messages.
    if not distinct or (
        len(contract_fields) == len(fields)
        and loose == [field.dataType for field in contract_fields]
    ):
        return frame

    def column(field: StructField, kind: DataType) -> Column:
        """A column of the output, cast to the type `kind` if its own is another one."""
        output_column = F.col(f"`{field.name}`")
        if kind == field.dataType:
            return output_column
        return output_column.cast(kind).alias(field.name)

    return frame.select(*map(column, contract_fields, loose))


def _nullable(kind: Any) -> Any:
    """The data type with every field of its structs, and every value of its arrays and maps,
    nullable.
    """
    match kind:
        case StructType():
            return StructType(
                [StructField(f.name, _nullable(f.dataType), True) for f in kind.fields]
            )
        case ArrayType():
            return ArrayType(_nullable(kind.elementType), True)
        case MapType():
            return MapType(kind.keyType, _nullable(kind.valueType), True)
    return kind


def warm_up(spark: SparkSession) -> None:
    """Runs a small job through what every decode call needs (JSON, casts, generated code, Arrow),
    so that the first call need not wait for it. The parent process draws its cases meanwhile.
    """
    json_text = F.concat(F.lit('{"a":["'), F.col("id").cast("string"), F.lit('"]}'))
    parsed = spark.range(0, 2_000, 1, 2).select(
        F.from_json(json_text, "a array<string>, b map<string,string>").alias("j")
    )
    exploded = parsed.select(F.posexplode_outer("j.a").alias("row", "text"), "j.b")
    exploded.select(
        "row", F.expr("try_cast(text AS decimal(20,0))"), F.expr("try_cast(text AS timestamp)"), "b"
    ).toArrow()


def read_kafka(
    spark: SparkSession,
    kafka: Mapping[str, str],
    topic: str,
    ranges: list[tuple[str, int, int, int]],
) -> DataFrame:
    """A batch of a topic's records with headers, as Spark's Kafka source gives them. `kafka` has
    the client's settings. `ranges` has the ranges of offsets to read, one for each partition, as
    (topic, partition, first offset, last offset); the last one is read, too.
    """
    starts = {str(p): low for _, p, low, _ in ranges}
    ends = {str(p): high + 1 for _, p, _, high in ranges}
    return (
        source(spark, spark.read, kafka)
        .option("assign", f'{{"{topic}":[{",".join(starts)}]}}')
        .option("startingOffsets", _offsets(topic, starts))
        .option("endingOffsets", _offsets(topic, ends))
        .load()
    )


def _offsets(topic: str, offsets: Mapping[str, int]) -> str:
    """The offsets of a topic's partitions as the JSON that Spark's Kafka source takes."""
    return f'{{"{topic}":{{{",".join(f"{chr(34)}{p}{chr(34)}:{o}" for p, o in offsets.items())}}}}}'


def in_ranges(ranges: Iterable[tuple[str, int, int, int]]) -> Column:
    """The condition (a Column) that a record lies in one of these ranges of offsets, given as
    (topic, partition, first offset, last offset), both ends included. It is SQL text with one set
    of single offsets per partition, and one set of topics for all that have the same offsets: a
    sample is hundreds of ranges, and as many nested conditions cost more than the decoding.
    """
    by_topic: dict[str, dict[int, list[tuple[int, int]]]] = {}
    for topic, partition, low, high in ranges:
        by_topic.setdefault(topic, {}).setdefault(partition, []).append((low, high))
    topics_by_condition: dict[str, list[str]] = {}
    for topic, partitions in by_topic.items():
        parts = (
            f"(partition = {number} AND ({_between(pairs)}))"
            for number, pairs in sorted(partitions.items())
        )
        topics_by_condition.setdefault(" OR ".join(parts), []).append(topic)
    tests = (
        f"(topic IN ({', '.join(map(_sql_text, topics))}) AND ({offsets}))"
        for offsets, topics in topics_by_condition.items()
    )
    return F.expr(" OR ".join(tests) or "false")


def _between(pairs: list[tuple[int, int]]) -> str:
    """SQL of the test whether an offset lies in one of these ranges, of which both ends are
    included; there is at least one.
    """
    tests = [f"offset BETWEEN {low} AND {high}" for low, high in pairs if low < high]
    singles = [str(low) for low, high in pairs if low == high]
    return " OR ".join([*tests, f"offset IN ({', '.join(singles)})"] if singles else tests)


def _sql_text(value: str) -> str:
    """A text as a SQL literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
