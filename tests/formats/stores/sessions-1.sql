CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        created_at REAL NOT NULL,
        ended_at REAL,
        labels TEXT NOT NULL,
        summary TEXT,
        summary_through TEXT
    ) STRICT;
CREATE INDEX session_by_age ON session (created_at, number);
CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        started_at REAL NOT NULL
    ) STRICT;
CREATE INDEX turn_of_session ON turn (session_id, number);
CREATE TABLE message (
        run_id TEXT NOT NULL,
        step INTEGER NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, step)
    ) STRICT;
PRAGMA application_id = 1952928613;
PRAGMA user_version = 1;
INSERT INTO session (id, agent, created_at, labels) VALUES ('s', 'a', 1, '{}');
