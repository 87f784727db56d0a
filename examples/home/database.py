"""The database of the example: SQLite, built from `data/`, the same on every machine.

`python -m examples.home.database PATH` builds it. Nothing here knows about tools.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
DATA: Final = HERE / "data"
DATABASE: Final = HERE / "home.db"

END: Final = datetime(2026, 1, 31, tzinfo=UTC)
START: Final = END - timedelta(days=30)
OFFLINE_SINCE: Final = datetime(2026, 1, 29, 5, tzinfo=UTC)
"""The devices that are offline have not reported since."""


def connect(path: Path = DATABASE) -> sqlite3.Connection:
    """Return a connection to the database, which is built first where it is missing."""
    if not path.exists():
        build(path)
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    return connection


def build(path: Path) -> None:
    """Write the database, in place of an older one; what was kept beside that is forgotten."""
    for kept in path.parent.glob(f"{path.stem}-*.db*"):
        kept.unlink()
    unfinished = path.with_suffix(".new.db")
    unfinished.write_bytes(content())
    unfinished.replace(path)


@cache
def content() -> bytes:
    """Return the file of the database, which a process makes once: the readings take some time."""
    with closing(sqlite3.connect(":memory:")) as connection:
        with connection:
            connection.executescript((HERE / "schema.sql").read_text(encoding="utf-8"))
            _add_sites_and_users(connection)
            _add_devices(connection)
            _add_manuals(connection)
        return connection.serialize()


def beside(path: Path, name: str) -> Path:
    """Return where the runtime keeps something beside the database: `home-state.db` beside `home.db`."""
    return path.with_name(f"{path.stem}-{name}.db")


def _add_sites_and_users(connection: sqlite3.Connection) -> None:
    connection.executemany("insert into site values (:id, :name, :timezone)", _json("sites.json"))
    for user in _json("users.json"):
        connection.execute(
            "insert into user values (:id, :display_name, :email, :member_since, :preferences, :pin)",
            user | {"preferences": json.dumps(user["preferences"])},
        )
        connection.executemany(
            "insert into member values (?, ?)", [(user["id"], site) for site in user["sites"]]
        )
        connection.executemany(
            "insert into session values (?, ?, ?)",
            [(session, user["id"], started_at) for session, started_at in user["sessions"].items()],
        )


def _add_devices(connection: sqlite3.Connection) -> None:
    kinds = _json("kinds.json")
    with (DATA / "devices.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            kind = kinds[row["kind"]]
            connection.execute(
                "insert into device values (:id, :site, :room, :name, :kind, :manual, :status,"
                " :quantity, :unit, :commands, :settings)",
                {
                    **kind,
                    **row,
                    "commands": json.dumps(kind["commands"]),
                    "settings": json.dumps(kind["settings"]),
                },
            )
            connection.executemany(
                "insert into reading values (?, ?, ?)", _readings(row["id"], row["status"], kind)
            )


def _add_manuals(connection: sqlite3.Connection) -> None:
    for manual in sorted((DATA / "manuals").glob("*.md")):
        connection.executemany(
            "insert into section (ref, parent, level, manual, title, heading, body)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            _sections(manual.stem, manual.read_text(encoding="utf-8")),
        )
    connection.execute("insert into section_text (section_text) values ('rebuild')")


def _readings(device_id: str, status: str, kind: dict[str, Any]) -> Iterator[tuple[str, int, float]]:
    """Yield a reading per hour: the kind's usual day, shifted a little per device and per hour."""
    if status == "unknown":
        return
    shift = kind["spread"] * (_share(device_id) - 0.5)
    end = OFFLINE_SINCE if status == "offline" else END
    for seconds in range(int(START.timestamp()), int(end.timestamp()), 3600):
        usual = kind["hours"][seconds // 3600 % 24]
        noise = kind["noise"] * (_share(f"{device_id} {seconds}") - 0.5)
        yield device_id, seconds, max(0.0, round(usual + shift + noise, 1)) if usual else 0.0


def _share(seed: str) -> float:
    """Return a number in [0, 1) that depends on the seed alone."""
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=4).digest()) / 2**32


def _sections(manual: str, text: str) -> Iterator[tuple[str, str | None, int, str, str, str, str]]:
    """Yield a row for each heading of a manual, with the text below it.

    The title has the manual's name as its reference, the second chapter `/2`, its first part `/2.1`.
    """
    titles: list[str] = []
    chapter = part = 0
    for block in f"\n{text}".split("\n#")[1:]:
        line, _, body = block.partition("\n")
        title = line.lstrip("#").strip()
        level = 1 + len(line) - len(line.lstrip("#"))
        match level:
            case 1:
                ref, parent = manual, None
            case 2:
                chapter, part = chapter + 1, 0
                ref, parent = f"{manual}/{chapter}", manual
            case _:
                part += 1
                ref, parent = f"{manual}/{chapter}.{part}", f"{manual}/{chapter}"
        titles[level - 1 :] = [title]
        yield ref, parent, level, manual, title, " › ".join(titles), " ".join(body.split())


def _json(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else DATABASE)
