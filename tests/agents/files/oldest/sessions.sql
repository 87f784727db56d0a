PRAGMA application_id = 1952928613;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE active (
        session_id TEXT PRIMARY KEY NOT NULL,
        run_id TEXT NOT NULL,
        engine_id TEXT NOT NULL,
        taken_at REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "active" VALUES('s-approval','approval','sqlite_73f4d8dbf80646369bb272d0095f80a0',1.795455427468861103e+09);
INSERT INTO "active" VALUES('s-question','question','sqlite_73f4d8dbf80646369bb272d0095f80a0',1.79545542749254083631e+09);
INSERT INTO "active" VALUES('s-cut','cut','sqlite_73f4d8dbf80646369bb272d0095f80a0',1.79545542750101470947e+09);
INSERT INTO "active" VALUES('s-again','again','sqlite_73f4d8dbf80646369bb272d0095f80a0',1.7954554275030434132e+09);
CREATE TABLE answer (
        run_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, call_id)
    ) STRICT
    ;
INSERT INTO "answer" VALUES('done','call_0_0',1.79545542746736288067e+09,'[{"answers":[{"id":"call_0_0","name":"look_up","status":"ok","text":"\"lamp is found\"","reminder":"","content":[],"bounds":null,"artifacts":[],"resolved_by":""}],"type":"tools"}]');
CREATE TABLE engine (
        id TEXT PRIMARY KEY NOT NULL,
        is_durable INTEGER NOT NULL,
        alive_until REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "engine" VALUES('sqlite_73f4d8dbf80646369bb272d0095f80a0',1,1.79545544250304341311e+09);
CREATE TABLE message (
        run_id TEXT NOT NULL,
        step INTEGER NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, step)
    ) STRICT
    ;
INSERT INTO "message" VALUES('done',0,1.7954554274514906406e+09,'[{"text":"look_up lamp","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('done',1,1.79545542746437239651e+09,'[{"text":"","calls":[{"name":"look_up","arguments":"{\"name\":\"lamp\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('done',3,1.79545542746805620194e+09,'[{"answers":[{"id":"call_0_0","name":"look_up","status":"ok","text":"\"lamp is found\"","reminder":"","content":[],"bounds":null,"artifacts":[],"resolved_by":""}],"type":"tools"},{"text":"\"lamp is found\"","calls":[],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('approval',0,1.795455427468861103e+09,'[{"text":"wipe disk","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('approval',1,1.79545542747187590604e+09,'[{"text":"","calls":[{"name":"wipe","arguments":"{\"name\":\"disk\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('question',0,1.79545542749254083631e+09,'[{"text":"ask Mira","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('question',1,1.79545542749802803988e+09,'[{"text":"","calls":[{"name":"ask","arguments":"{\"name\":\"Mira\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('cut',0,1.79545542750101470947e+09,'[{"text":"pay slow","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('cut',1,1.7954554275022909641e+09,'[{"text":"","calls":[{"name":"pay","arguments":"{\"name\":\"slow\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('again',0,1.7954554275030434132e+09,'[{"text":"look_up slow","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('again',1,1.79545542750409865386e+09,'[{"text":"","calls":[{"name":"look_up","arguments":"{\"name\":\"slow\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
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
INSERT INTO "session" VALUES(1,'s-done','x.agent',1795455427.45128,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(2,'s-approval','x.agent',1.79545542746876764291e+09,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(3,'s-question','x.agent',1.79545542749239420889e+09,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(4,'s-cut','x.agent',1.79545542750084853177e+09,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(5,'s-again','x.agent',1.79545542750296974179e+09,NULL,'{}',NULL,NULL);
CREATE TABLE spoken (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        UNIQUE (run_id, id)
    ) STRICT
    ;
CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        started_at REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "turn" VALUES(1,'done','turn_3edaf8749fa05d4eaa9a4f0b34f64575','s-done','x.agent',1.79545542745143413545e+09);
INSERT INTO "turn" VALUES(2,'approval','turn_1693519db4f75c8a8cde5db5cc31165a','s-approval','x.agent',1.79545542746883654595e+09);
INSERT INTO "turn" VALUES(3,'question','turn_ceec5df41f255307b11941d30d30f56a','s-question','x.agent',1.79545542749250340466e+09);
INSERT INTO "turn" VALUES(4,'cut','turn_47c6f177bca75a32ad5fc536eaa1cd84','s-cut','x.agent',1.7954554275009872913e+09);
INSERT INTO "turn" VALUES(5,'again','turn_787634c8a2af5ceb85402d7dc6a26e19','s-again','x.agent',1.79545542750302457813e+09);
CREATE INDEX session_by_age ON session (created_at, number);
CREATE INDEX turn_of_session ON turn (session_id, number);
COMMIT;
