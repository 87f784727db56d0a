"""The tables of sessions: in a separate file, or next to the runs in the file of an engine."""

from __future__ import annotations

from typing import Final

SESSION_TABLES: Final = (
    """
    CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        created_at REAL NOT NULL,
        ended_at REAL,
        labels TEXT NOT NULL,
        summary TEXT,
        summary_through TEXT
    ) STRICT
    """,
    "CREATE INDEX session_by_age ON session (created_at, number)",
    """
    CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        started_at REAL NOT NULL
    ) STRICT
    """,
    "CREATE INDEX turn_of_session ON turn (session_id, number)",
    """
    CREATE TABLE message (
        run_id TEXT NOT NULL,
        step INTEGER NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, step)
    ) STRICT
    """,
    """
    CREATE TABLE answer (
        run_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, call_id)
    ) STRICT
    """,
    """
    CREATE TABLE spoken (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        UNIQUE (run_id, id)
    ) STRICT
    """,
    """
    CREATE TABLE engine (
        id TEXT PRIMARY KEY NOT NULL,
        is_durable INTEGER NOT NULL,
        alive_until REAL NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE active (
        session_id TEXT PRIMARY KEY NOT NULL,
        run_id TEXT NOT NULL,
        engine_id TEXT NOT NULL,
        taken_at REAL NOT NULL
    ) STRICT
    """,
)
