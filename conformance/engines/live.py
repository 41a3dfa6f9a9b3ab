"""Decoders as Python functions, and the Engine on a session of the user's, which stays as it was.

The decoder runs in this process: one that hangs on the driver, or ends its process, does so to the
caller. What hangs in Spark is interrupted after its time limit.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import math
import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from conformance.engines._jobs import Jobs
from conformance.engines.asking import RequestingEngine, convert_result, error_of_reply
from conformance.engines.child import ENVIRONMENTS
from conformance.engines.engine import AnswerTimeout, DecodeTimeout
from conformance.engines.spark_conf import MASTER, PACKAGES, REMOTE, hide_in_text
from conformance.engines.specs import SERVICES
from generators.errors import UsageError, first_line

DEFAULTS: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}
"""Settings during a call, as in a session of the harness's own."""
AT_ONCE_S: Final = 0.5
"""Time in which an idle thread ends."""
PATIENCE_S: Final = 5.0
"""Time limit of the last call's end."""
_LIVE_MODULE: Final = "spark_checks.services.live"
"""The module of Spark's side that this one finds by name, since nothing here may import Spark."""


def unwrap_partial(decoder: object) -> object:
    """The function that a `functools.partial` calls, however often it is wrapped; anything else as
    it is.
    """
    while isinstance(decoder, functools.partial):
        decoder = decoder.func
    return decoder


def decoder_name(decoder: object) -> str:
    """The name of a decoder in requests and reports: its specification; for a function or class,
    or a `functools.partial` of one, its module and qualified name.
    """
    if isinstance(decoder, str):
        return decoder
    definition = unwrap_partial(decoder)
    kind = definition if hasattr(definition, "__qualname__") else type(definition)
    return f"{getattr(kind, '__module__', '')}:{getattr(kind, '__qualname__', kind)}"


def pickle_decoder(decoder: object) -> Mapping[str, str]:
    """For a decoder that is a Python object: a mapping of its name to the object, pickled for
    another process. {} for None and for a specification (`module:function`), which the other
    process can load itself. Raises UsageError if the decoder cannot be pickled.
    """
    if decoder is None or isinstance(decoder, str):
        return {}
    try:
        return {decoder_name(decoder): importlib.import_module(_LIVE_MODULE).pickled(decoder)}
    except Exception as error:
        why = first_line(error)
        raise UsageError(
            f"decoder {decoder_name(decoder)} cannot be sent to another process: {type(error).__name__}:"
            f" {why}"
        ) from error


class LiveEngine(RequestingEngine):
    """The Engine on a SparkSession, classic or of Spark Connect. `conf` are settings of each call
    beside `DEFAULTS`. `pipelines` are those that requests name, by name. Requests are answered in
    order, in one thread. Raises UsageError for a setting that the session does not take.
    """

    environments: Mapping[str, Mapping[str, str]] = ENVIRONMENTS

    def __init__(
        self,
        spark: Any,
        decoder: object,
        *,
        conf: Mapping[str, str] = {},
        timeout_s: float = 120,
        pipelines: Mapping[str, object] = {},
    ) -> None:
        for name in (MASTER, REMOTE, PACKAGES):
            if conf.get(name):
                raise UsageError(f"{name}: the given session has its own")
        self._conf, self._timeout_s = {**DEFAULTS, **conf}, timeout_s
        decoders = (
            {} if decoder is None or isinstance(decoder, str) else {decoder_name(decoder): decoder}
        )
        try:
            self._session = importlib.import_module(_LIVE_MODULE).LiveSession(
                spark, decoders, self._conf, pipelines
            )
        except ValueError as error:
            raise UsageError(str(error)) from error
        self.directory = Path(tempfile.mkdtemp(prefix="cdc-conformance-"))
        self._numbers = itertools.count(1)
        self._unopened: dict[str, BaseException] = {}
        self._jobs = Jobs("cdc-live", self._session)

    def put(self, request: dict[str, Any]) -> Future[Any]:
        """Queues a request for the thread of the session; the future has the reply."""
        return self._jobs.put(lambda: self._answer(request))

    @property
    def is_connect(self) -> bool:
        """Whether the session is one of Spark Connect."""
        return bool(self._session.is_connect)

    @property
    def is_away(self) -> bool:
        """Whether the session may execute on other machines."""
        return bool(self._session.is_away)

    def ask_service(
        self, service: str, request: Mapping[str, Any], limit_s: float
    ) -> Future[Mapping[str, Any]]:
        """Asks one of the services (stream, fuzz ...) in the user's session; the future has its
        answer. A request that exceeds `limit_s` seconds is interrupted, and the session lives on.
        """
        return convert_result(
            self.put({"op": service, "limit_s": limit_s, **request}), lambda reply: reply["answer"]
        )

    def close(self) -> None:
        """Gives running requests AT_ONCE_S to end, then interrupts them; restores the session as it
        was.
        """
        self._jobs.close()
        self._jobs.thread.join(AT_ONCE_S)
        if self._jobs.thread.is_alive():
            self._session.interrupt()
            self._jobs.thread.join(PATIENCE_S)
        self._session.restore()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _answer(self, request: dict[str, Any]) -> Mapping[str, Any]:
        """Runs a request of the engine on the user's session and returns the reply. Raises the
        errors that an engine whose decoder runs in a child process would raise.
        """
        op, handle = request["op"], request.get("handle", "")
        if op == "renew":
            # The session is the caller's: no other process can be had.
            return {}
        if op == "decode" and handle in self._unopened:
            raise self._unopened[handle]
        if op in ("open", "decode", *SERVICES):
            request["conf"] = {**self._conf, **request.get("conf", {})}
        limited = op == "decode" or op in SERVICES
        limit_s = request.get("limit_s", self._timeout_s) if limited else math.inf
        reply: Mapping[str, Any] | None = self._session.answer(request, limit_s)
        if reply is None and op in SERVICES:
            raise AnswerTimeout(f"{op} did not answer within {limit_s:g} s")
        if reply is None:
            raise DecodeTimeout(f"{request['decoder']} did not end within {limit_s:g} s")
        if "error" in reply:
            error = error_of_reply(reply["error"], hide_in_text(reply["message"], self._conf))
            if op == "open":
                self._unopened[handle] = error
            raise error
        self._unopened.pop(handle, None)
        return reply
