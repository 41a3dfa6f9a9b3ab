"""What Spark needs to start: Java by release, modules and the releases that stand in, named jars, a
temporary folder.
"""

import os
import time
from threading import Barrier

import pytest

from conformance.brokers import spark
from conformance.brokers.jars import Java, missing_modules, progress_text, pyspark_jars
from conformance.brokers.spark import (
    MODULES,
    check_java,
    fetch_packages,
    java_words,
    missing_artefacts,
    named_jars,
    next_revisions,
    prepare_jars,
)
from generators.errors import HarnessError, UnknownName, UsageError

SQL, TOKEN, AVRO = (
    "spark-sql-kafka-0-10_2.13",
    "spark-token-provider-kafka-0-10_2.13",
    "spark-avro_2.13",
)


@pytest.mark.parametrize(
    ("jar", "name", "release"),
    [
        ("kafka-clients-3.9.0.jar", "kafka-clients", "3.9.0"),
        ("spark-sql-kafka-0-10_2.13-4.1.0-preview1.jar", SQL, "4.1.0-preview1"),
        ("log4j-1.2-api-2.24.3.jar", "log4j-1.2-api", "2.24.3"),
        ("guava-33.4.0-jre.jar", "guava", "33.4.0-jre"),
        ("zstd-jni-1.5.6-4.jar", "zstd-jni", "1.5.6-4"),
        ("hive-shims-0.23-2.3.10.jar", "hive-shims-0.23", "2.3.10"),
        ("netty-epoll-4.1.118.Final-linux-x86_64.jar", "netty-epoll", "4.1.118.Final-linux-x86_64"),
        ("own.jar", "own", ""),
    ],
)
def test_a_jar_s_name_says_artefact_and_release(jar, name, release):
    assert spark.parse_jar_name(jar) == (name, release)


def test_the_release_of_spark_is_that_of_its_core():
    assert spark.release_of(["spark-tags_2.13-9.jar", "spark-core_2.13-4.2.0.jar"]) == "4.2.0"
    assert spark.release_of(["spark-core_2.13-4.1.0-preview1.jar"]) == "4.1.0-preview1"
    assert spark.release_of(["x-1.jar"]) is None


@pytest.mark.parametrize(
    ("release", "words", "legal", "refused"),
    [
        ("4.0.0", "Java 17 or 21", (17, 18, 21), (8, 11, 16, 22, 25)),
        ("4.1.1", "Java 17 or 21", (17, 21), (11, 25)),
        ("4.2.0", "Java 17, 21 or 25", (17, 21, 25), (11, 26)),
        ("4.3.0", "Java 17, 21 or 25", (17, 21, 25), (11, 26)),
    ],
)
def test_each_release_has_bounds_of_java(release, words, legal, refused):
    assert java_words(release) == words
    for version in legal:
        check_java(release, Java("/j", version, ""))
    for version in refused:
        message = (
            rf"^/j is Java {version}; Spark {release} runs on {words}\. Set JAVA_HOME to {words}$"
        )
        with pytest.raises(HarnessError, match=message):
            check_java(release, Java("/j", version, ""))


def test_what_spark_has_or_the_user_names_is_not_fetched():
    kafka, avro = MODULES["kafka"], MODULES["avro"]
    assert missing_artefacts(kafka, {"commons-pool2"}, ["own.jar"]) == (SQL, TOKEN)
    assert missing_artefacts(avro, {AVRO}, []) == ()
    assert missing_artefacts(avro, set(), ["spark-avro_2.13-4.1.1.jar"]) == ()
    given = [
        f"{SQL}-4.2.0.jar",
        f"{TOKEN}-4.0.0.jar",
        "kafka-clients-3.9.2.jar",
        "commons-pool2-2.13.1.jar",
    ]
    assert missing_artefacts(kafka, set(), given) == ()
    assert missing_artefacts(kafka, {"commons-pool2"}, given[:3]) == ()
    message = (
        r"names spark-sql-kafka-0-10_2\.13, which also needs kafka-clients, commons-pool2; name"
    )
    with pytest.raises(UsageError, match=message):
        missing_artefacts(kafka, set(), given[:2])


def test_an_artefact_comes_in_spark_s_release_or_in_the_newest_of_its_minor_or_major_release():
    minor = next_revisions({SQL: "4.3.1", TOKEN: "4.3.1"}, {TOKEN, "kafka-clients"}, "4.3.1")
    assert minor == {SQL: "4.3.1", TOKEN: "4.3.+"}
    assert next_revisions(minor, {TOKEN}, "4.3.1") == {SQL: "4.3.1", TOKEN: "4.+"}
    assert next_revisions({SQL: "4.3.1", TOKEN: "4.+"}, {TOKEN}, "4.3.1") is None
    assert next_revisions({SQL: "4.3.1", TOKEN: "4.3.1"}, {"kafka-clients"}, "4.3.1") is None
    jars = [f"{SQL}-4.3.0.jar", f"{TOKEN}-4.2.0.jar", "kafka-clients-3.9.2.jar"]
    assert spark.substitutes("4.3.0", (SQL, TOKEN), jars) == {TOKEN: "4.2.0"}
    assert spark.describe_substitution(TOKEN, "4.2.0", "4.3.0") == (
        f"org.apache.spark:{TOKEN}:4.3.0 is not published here; 4.2.0 is used, the newest of 4"
    )
    assert spark.describe_substitution(TOKEN, "4.0.0", "4.0.5").endswith(
        "4.0.0 is used, the newest of 4.0"
    )


OWN = (("org.example", "decoders_2.13", "1.0"),)
UNRESOLVED = """
		::          UNRESOLVED DEPENDENCIES         ::

		:: org.apache.spark#spark-avro_2.13;4.2.0: not found
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (UNRESOLVED, {AVRO}),
        (
            f"Server access error at url http://x (java.net.ConnectException: Connection refused){UNRESOLVED}",
            set(),
        ),
        (f"java.net.UnknownHostException{UNRESOLVED}", set()),
        ("Server access error: Read timed out", set()),
    ],
)
def test_a_registry_that_lacks_a_module_differs_from_one_that_does_not_answer(text, expected):
    assert missing_modules(text) == expected


def test_jars_are_named_by_file_or_folder(tmp_path):
    for name in ("b.jar", "a.jar", "note.txt"):
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    assert named_jars([str(tmp_path), str(tmp_path / "b.jar")]) == [
        tmp_path / "a.jar",
        tmp_path / "b.jar",
        tmp_path / "b.jar",
    ]
    for wrong in (tmp_path / "none.jar", tmp_path / "empty", tmp_path / "note.txt"):
        with pytest.raises(
            UsageError,
            match=f"CDC_CONFORMANCE_SPARK_JARS: {wrong} is neither a jar nor a folder with jars",
        ):
            named_jars([str(wrong)])


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A Spark 4.3.0 with two jars of its own, an empty cache, and a Maven repository in a folder
    that lacks that release.
    """
    own, repository = tmp_path / "own", tmp_path / "repository"
    own.mkdir()
    for jar in pyspark_jars().glob("ivy-*.jar"):
        (own / jar.name).symlink_to(jar)
    (own / "spark-core_2.13-4.3.0.jar").touch()
    (own / "slf4j-api-2.0.17.jar").touch()
    monkeypatch.setattr("conformance.brokers.jars.pyspark_jars", lambda: own)
    monkeypatch.setattr("conformance.brokers.spark.pyspark_jars", lambda: own)
    spark, kafka = "org.apache.spark", "org.apache.kafka"
    depends = {
        SQL: [
            (spark, TOKEN, None),
            (kafka, "kafka-clients", "3.9.2"),
            ("org.slf4j", "slf4j-api", "2.0.17"),
        ]
    }
    published = [
        (spark, SQL, "4.1.1"),
        (spark, SQL, "4.2.0"),
        (spark, SQL, "5.0.0"),
        (spark, TOKEN, "4.0.0"),
    ]
    for group, name, release in (*published, (kafka, "kafka-clients", "3.9.2")):
        place = repository / group.replace(".", "/") / name / release
        place.mkdir(parents=True)
        others = "".join(
            f"<dependency><groupId>{g}</groupId><artifactId>{n}</artifactId><version>{r or release}</version></dependency>"
            for g, n, r in depends.get(name, [])
        )
        (place / f"{name}-{release}.pom").write_text(
            f"<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{release}</version><dependencies>{others}</dependencies></project>"
        )
        (place / f"{name}-{release}.jar").write_bytes(b"jar")
    settings = tmp_path / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="r"/><resolvers>'
        f'<ibiblio name="r" m2compatible="true" root="{repository.as_uri()}/"/></resolvers></ivysettings>'
    )
    environ = {
        **os.environ,
        "CDC_CONFORMANCE_CACHE": str(tmp_path / "cache"),
        "CDC_CONFORMANCE_IVY_SETTINGS": str(settings),
    }
    environ.pop("CDC_CONFORMANCE_SPARK_JARS", None)
    return environ


IVY = """:: resolving dependencies :: cdc-conformance#broker;working
\tconfs: [default]
\tfound org.apache.spark#spark-sql-kafka-0-10_2.13;4.0.0 in central
\tfound org.apache.kafka#kafka-clients;3.9.0 in central
"""
FETCHING = """downloading https://repo.test/spark-sql-kafka-0-10_2.13-4.0.0.jar ...
\t[SUCCESSFUL ] org.apache.spark#spark-sql-kafka-0-10_2.13;4.0.0!spark-sql-kafka-0-10_2.13.jar (91ms)
"""


@pytest.mark.parametrize(
    ("log", "total", "words"),
    [
        ("", 0, "0 jars found until now"),
        (IVY, 0, "2 jars found until now"),
        (IVY + FETCHING, 0, "1 of 2 jars"),
        ("", 46, "0 of 46 jars"),
        (IVY + FETCHING, 46, "1 of 46 jars"),
    ],
)
def test_progress_of_a_download_says_how_much_of_how_much(log, total, words):
    assert progress_text(log, total) == words


def test_modules_are_fetched_side_by_side_and_one_that_fails_ends_the_others(
    machine, monkeypatch, tmp_path
):
    met, notes = Barrier(2), []

    def meeting(module, _release, _missing, _own, note, _environ):
        met.wait(20)
        note(module.title)
        return [tmp_path / f"{module.title}.jar"]

    monkeypatch.setattr(spark, "_fetch_module", meeting)
    jars = spark.prepare_jars(("kafka", "avro"), notes.append, environ=machine)
    assert (
        [path.stem for path in jars]
        == sorted(notes, reverse=True)
        == ["Spark Kafka source", "Spark Avro"]
    )

    def failing(module, _release, _missing, _own, note, _environ):
        if module.title == "Spark Kafka source":
            raise HarnessError("no registry")
        for _ in range(1_000):
            note("still fetching")
            time.sleep(0.02)
        return []

    monkeypatch.setattr(spark, "_fetch_module", failing)
    began = time.monotonic()
    with pytest.raises(HarnessError, match="no registry"):
        spark.prepare_jars(("kafka", "avro"), notes.append, environ=machine)
    assert time.monotonic() - began < 15


class Notes(list):
    """Progress, and lines that stay."""

    def __init__(self):
        self.stay = []
        self.__dict__ |= {"line": self.stay.append}

    __call__ = list.append


@pytest.mark.slow
def test_the_newest_release_stands_in_and_each_run_says_so(machine):
    """Through the real Ivy: sql-kafka 4.2.0 asks for a token provider 4.2.0, and only 4.0.0 is
    published.
    """
    notes = Notes()
    jars = [jar.name for jar in prepare_jars(("kafka",), notes, environ=machine)]
    assert jars == ["kafka-clients-3.9.2.jar", f"{SQL}-4.2.0.jar", f"{TOKEN}-4.0.0.jar"]
    assert any(
        text.startswith(f"the registry lacks {SQL}, {TOKEN} for Spark 4.3.0; looking")
        for text in notes
    )
    lines = [
        spark.describe_substitution(SQL, "4.2.0", "4.3.0"),
        spark.describe_substitution(TOKEN, "4.0.0", "4.3.0"),
    ]
    assert notes.stay == lines
    again = Notes()
    assert [jar.name for jar in prepare_jars(("kafka",), again, environ=machine)] == jars
    assert (list(again), again.stay) == ([], lines)
    assert spark.state(machine) == ({"kafka": f"{SQL} 4.2.0, {TOKEN} 4.0.0"}, ["avro"])


@pytest.mark.slow
def test_what_no_release_has_is_named_in_ivy_s_words(machine):
    for fetch, name, lacks in (
        (
            lambda: prepare_jars(("avro",), Notes(), environ=machine),
            "Spark Avro",
            "org.apache.spark#spark-avro_2.13;4.+",
        ),
        (
            lambda: fetch_packages(OWN, Notes(), environ=machine),
            "decoders_2.13",
            "org.example#decoders_2.13;1.0",
        ),
    ):
        with pytest.raises(HarnessError) as caught:
            fetch()
        text = str(caught.value)
        assert text.startswith(
            f"cannot download the {name} jars: Ivy ended with exit code 1. Its log: "
        )
        assert f"{lacks}: not found" in text
        assert name != "Spark Avro" or (
            "name jars in CDC_CONFORMANCE_SPARK_JARS" in text and "--broker none" not in text
        )
    assert "use --broker none, which needs no Kafka source" in MODULES["kafka"].remedy


@pytest.mark.slow
def test_packages_come_with_what_they_depend_on_but_for_spark_s_own(machine):
    asked, notes = (
        (("org.apache.spark", TOKEN, "4.0.0"), ("org.apache.kafka", "kafka-clients", "3.9.2")),
        Notes(),
    )
    expected = ["kafka-clients-3.9.2.jar", f"{TOKEN}-4.0.0.jar"]
    assert [jar.name for jar in fetch_packages(asked, notes, environ=machine)] == expected
    assert notes[0].startswith(
        f"downloading {TOKEN}, kafka-clients 4.0.0 (with all that they depend on)"
    )
    again = Notes()
    assert [jar.name for jar in fetch_packages(asked, again, environ=machine)] == expected
    assert (list(again), fetch_packages((), again, environ={})) == ([], ())


def test_named_jars_are_added_and_stand_for_their_module(machine, tmp_path):
    (tmp_path / "spark-avro_2.13-4.1.1.jar").touch()
    (tmp_path / "own.jar").touch()
    places = os.pathsep.join(
        (str(tmp_path / "spark-avro_2.13-4.1.1.jar"), str(tmp_path / "own.jar"))
    )
    environ = {**machine, "CDC_CONFORMANCE_SPARK_JARS": places}
    notes = Notes()
    assert [jar.name for jar in prepare_jars(("avro",), notes, environ=environ)] == [
        "spark-avro_2.13-4.1.1.jar",
        "own.jar",
    ]
    assert [
        jar.name
        for jar in prepare_jars((), notes, extra_jars=(str(tmp_path / "own.jar"),), environ=machine)
    ] == ["own.jar"]
    assert not notes
    assert spark.state(environ) == (
        {"avro": "spark-avro_2.13 of CDC_CONFORMANCE_SPARK_JARS"},
        ["kafka"],
    )
    with pytest.raises(UnknownName, match="unknown module 'arvo'"):
        prepare_jars(("arvo",), notes, environ=machine)


def test_a_temporary_folder_that_cannot_be_written_is_told_at_once(machine, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    for place in ("/proc", str(tmp_path / "file"), str(tmp_path / "none")):
        monkeypatch.setenv("TMPDIR", place)
        with pytest.raises(
            HarnessError, match=f"^{place} cannot be written: .*Set TMPDIR to a folder that can$"
        ):
            prepare_jars((), Notes(), environ=machine)


def test_without_pyspark_there_is_no_release(monkeypatch, tmp_path):
    for folder in (None, tmp_path):
        monkeypatch.setattr(spark, "pyspark_jars", lambda folder=folder: folder)
        with pytest.raises(
            HarnessError, match=r"pyspark is not installed.*pip install 'pyspark>=4\.0,<5'"
        ):
            spark.installed_spark()
    (tmp_path / "spark-core_2.12-3.5.9.jar").touch()
    with pytest.raises(
        HarnessError,
        match=r"^pyspark 3\.5\.9 is installed; the harness needs Spark 4\. Install it: pip install",
    ):
        spark.installed_spark()
