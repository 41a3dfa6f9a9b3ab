"""What the command `record` does: one audit with its database."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.brokers.jars import Note
from conformance.files import put
from generators.errors import UsageError
from generators.profiles import Profile
from recorders.audit import scenario_number_in
from recorders.databases import Database, MariaDb, MySqlContainer, OldMariaDb, PostgreSql
from recorders.explained import FILE, load
from recorders.products import Product, product
from recorders.running import ProducedRecord, Stopped, find_compiler
from recorders.session import Audited, audit, draw_scenarios


def perform(
    *,
    product: str,
    release: str,
    options: Iterable[str],
    count: int,
    seed: int,
    select: str,
    expect: Path | None,
    image: str,
    out: Path | None,
    limit_s: int,
    note: Note,
) -> Audited:
    """Runs one audit, and stops everything that it started; the product has `limit_s` seconds for
    its records. Raises HarnessError that names what is missing, and UsageError before anything is
    started.
    """
    recorded_product = _product(product)
    option_names = tuple(options)
    if "mysql8" in option_names and not image:
        raise UsageError(f"{product} with option mysql8 needs a server of MySQL: --image")
    profile = recorded_product.profile(
        release,
        (*option_names, *(() if image else recorded_product.server_options(release, option_names))),
    )
    if image and profile.source != "mysql":
        raise UsageError(
            f"--image {image}: a container takes the place of MariaDB; {profile.name} reads"
            f" {profile.source}"
        )
    real_mysql = bool(image)
    explained = load(expect or FILE, f"{product} {profile.name}")
    explained = explained if select == "*" else explained.narrowed()
    find_compiler()
    note("drawing")
    cases = draw_scenarios(recorded_product, profile, count, seed, select, real_mysql=real_mysql)
    audited, stopped = None, dict[int, str]()
    while audited is None:
        try:
            with _database(image, recorded_product, profile, note) as database:
                audited = audit(
                    recorded_product,
                    profile,
                    database,
                    cases,
                    explained,
                    seed,
                    note,
                    stopped,
                    limit_s,
                )
        except Stopped as error:
            # Fresh input may have a table that the product cannot pass: without it, the others are
            # still audited.
            number = scenario_number_in(str(error))
            if number is None or number in stopped or len(stopped) == _STOPS:
                raise
            stopped[number] = f"{product} stops: {str(error).splitlines()[-1].strip()}"
            note(f"{product} stops at the scenario {cases[number].name}; again without it")
    if out:
        put(
            out,
            lambda: [
                b"".join(map(_line, (record.real for record in audited.compared if record.real)))
            ],
            "the records",
        )
    return audited


_product = product
_STOPS = 3
"""The most scenarios that an audit leaves out because the product stops at them."""


def _database(image: str, product: Product, profile: Profile, note: Note) -> Database:
    """The server that the product reads for the profile, not yet started: a container of `image` if
    given, else PostgreSQL or MariaDB of the system, or MariaDB 10.2 for releases that need it.
    """
    options = product.database(profile)
    if image:
        return MySqlContainer(note, options, image)
    if profile.source == "postgresql":
        return PostgreSql(note, options)
    # Canal up to 1.1.6 stops at the DDL events of MariaDB 10.11 (status variable 129).
    version = {"version": "5.7.18"} if profile.release in product.misled else {}
    return (OldMariaDb if profile.release in product.old else MariaDb)(note, {**options, **version})


def _line(record: ProducedRecord) -> bytes:
    """A product's record as a line of the file that keeps a recording: JSON with key, value and
    headers in base64.
    """

    def coded(data: bytes | None) -> str | None:
        return None if data is None else base64.b64encode(data).decode()

    line: dict[str, Any] = {"topic": record.topic, "partition": record.partition}
    line |= {"key_b64": coded(record.key), "value_b64": coded(record.value)}
    line["headers"] = [[name, coded(value)] for name, value in record.headers]
    return json.dumps(line).encode() + b"\n"
