BEGIN TRANSACTION;
CREATE TABLE active (
        session_id TEXT PRIMARY KEY NOT NULL,
        run_id TEXT NOT NULL,
        engine_id TEXT NOT NULL,
        taken_at REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "active" VALUES('said','r0','e',100.0);
CREATE TABLE answer (
        run_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, call_id)
    ) STRICT
    ;
INSERT INTO "answer" VALUES('r0','c',100.0,'[{"answers":[{"id":"c","name":"add","status":"ok","text":"2","reminder":"","content":[],"bounds":null,"artifacts":[],"resolved_by":""}],"type":"tools"}]');
CREATE TABLE engine (
        id TEXT PRIMARY KEY NOT NULL,
        is_durable INTEGER NOT NULL,
        alive_until REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "engine" VALUES('e',1,1000000100.0);
CREATE TABLE message (
        run_id TEXT NOT NULL,
        step INTEGER NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, step)
    ) STRICT
    ;
INSERT INTO "message" VALUES('r0',0,100.0,'[{"text":"add","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('r0',1,100.0,'[{"text":"soon","source":"person","type":"user"},{"text":"","calls":[{"name":"add","arguments":"{}","id":"c"}],"native":null,"type":"assistant"}]');
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
    ;
INSERT INTO "session" VALUES(1,'s','a',100.0,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(2,'said','home.helper',100.0,NULL,'{"user": "ann"}','"sums"','r0');
CREATE TABLE spoken (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        UNIQUE (run_id, id)
    ) STRICT
    ;
INSERT INTO "spoken" VALUES(1,'r0','i',100.0,'[{"text":"later","source":"person","type":"user"}]');
CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        started_at REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "turn" VALUES(1,'r0','t-r0','said','home.helper',90.0);
CREATE INDEX session_by_age ON session (created_at, number);
CREATE INDEX turn_of_session ON turn (session_id, number);
COMMIT;
PRAGMA application_id = 1952928613;
PRAGMA user_version = 2;
