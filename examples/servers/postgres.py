"""A PostgreSQL server of Debian's binaries for tests, on a Unix socket in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

_SETTINGS: Final = "-c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_connections=60"
_USERS: Final = ("postgres", "nobody")
"""Who runs the server where the tests are root's, which PostgreSQL refuses."""


class Server:
    """A running server; `conninfo` names its databases."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self.folder = folder
        self._user = None
        if os.getuid() == 0:
            self._user = next(name for name in _USERS if _is_user(name))
            shutil.chown(folder, self._user)
        self._databases = 0

    def conninfo(self, database: str) -> str:
        return f"host={self.folder} user=toolgen dbname={database}"

    def new_database(self) -> str:
        """Create an empty database and return its connection string."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.conninfo(name)

    def execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def create(self) -> None:
        data = str(self.folder / "data")
        self._run(
            "initdb", "-D", data, "-U", "toolgen", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )

    @property
    def is_running(self) -> bool:
        return (self.folder / "data/postmaster.pid").exists()

    def start(self) -> None:
        log, options = str(self.folder / "log"), f"{_SETTINGS} -k {self.folder}"
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def _run(self, name: str, *arguments: str) -> None:
        # Output goes to a file: the server inherits it, and a pipe would stay open.
        with (self.folder / "commands").open("ab") as output:
            done = subprocess.run(
                [self._binaries / name, *arguments],
                user=self._user,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        assert done.returncode == 0, (self.folder / "commands").read_text()


def find_binaries() -> Path | None:
    """Return the folder of `initdb` and `pg_ctl`; None where there is none."""
    found = shutil.which("pg_ctl")
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    places += [Path(found).resolve().parent] if found else []
    return next((one for one in places if (one / "initdb").exists() and (one / "pg_ctl").exists()), None)


@contextmanager
def running_server(binaries: Path) -> Iterator[Server]:
    """Start a server with an empty cluster, and stop and remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        server = Server(binaries, folder)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
