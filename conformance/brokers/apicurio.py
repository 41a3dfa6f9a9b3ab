"""Apicurio's schema registry as a Java child process on loopback, in memory, from the Maven
registry.
"""

from __future__ import annotations

import contextlib
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.brokers.embedded import JavaServer
from conformance.brokers.jars import QUICK, Bundle, jars_of

CONFLUENT_API: Final = "/apis/ccompat/v7"
"""Where Apicurio answers as Confluent's registry does."""
VERSION: Final = "2.6.13.Final"
_APP: Final = "apicurio-registry-app"
BUNDLE: Final = Bundle(
    f"{_APP}-{VERSION}",
    "Apicurio registry",
    (("io.apicurio", _APP, VERSION),),
    main=_APP,
    download="136 MB",
    archive="all",
    remedy="or use a running registry (--registry URL), or no broker (--broker none). ",
)
_FLAGS: Final = ("-Xmx384m", *QUICK)


class EmbeddedRegistry(JavaServer):
    """Apicurio's schema registry as a Java process, which keeps its schemas in memory."""

    title = "the schema registry"
    timeout_s = 120
    ports = 1

    @property
    def url(self) -> str:
        """The URL of the registry's interface that is compatible with Confluent's."""
        return f"http://127.0.0.1:{self._ports[0]}{CONFLUENT_API}"

    @property
    def api(self) -> str:
        """The URL of the registry's own interface."""
        return f"http://127.0.0.1:{self._ports[0]}/apis/registry/v2"

    def _fetch_jars(self) -> list[Path]:
        return jars_of(BUNDLE, self._note)

    def _prepare(self) -> Sequence[str]:
        place = ("-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._ports[0]}")
        return [*_FLAGS, *place, "-jar", str(self._jars[0])]

    def _is_answering(self) -> bool:
        """Whether the registry lists its subjects over HTTP; if not, returns False after a short
        pause, as the caller asks again and again.
        """
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"{self.url}/subjects", timeout=5),  # noqa: S310
        ):
            return True
        time.sleep(0.2)
        return False

    def start(self) -> None:
        """Starts the registry and waits until it answers."""
        super().start()
        assert self._java is not None
        self._note(
            f"schema registry at {self.url}: Apicurio {VERSION} on Java {self._java.version}"
        )
