CREATE SCHEMA toolgen;
CREATE TABLE toolgen.migration (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE toolgen.session (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    agent text COLLATE "C" NOT NULL,
    created_at float8 NOT NULL,
    ended_at float8,
    labels text NOT NULL,
    summary text,
    summary_through text COLLATE "C"
);
CREATE INDEX session_by_age ON toolgen.session (created_at, number);
CREATE TABLE toolgen.turn (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    turn_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    started_at float8 NOT NULL
);
CREATE INDEX turn_of_session ON toolgen.turn (session_id, number);
CREATE TABLE toolgen.message (
    run_id text COLLATE "C" NOT NULL,
    step bigint NOT NULL,
    written_at float8 NOT NULL,
    messages text NOT NULL,
    PRIMARY KEY (run_id, step)
);
CREATE TABLE toolgen.answer (
    run_id text COLLATE "C" NOT NULL,
    call_id text COLLATE "C" NOT NULL,
    written_at float8 NOT NULL,
    messages text NOT NULL,
    PRIMARY KEY (run_id, call_id)
);
CREATE TABLE toolgen.spoken (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    written_at float8 NOT NULL,
    messages text NOT NULL,
    UNIQUE (run_id, id)
);
CREATE TABLE toolgen.engine (
    id text COLLATE "C" PRIMARY KEY,
    is_durable boolean NOT NULL,
    alive_until float8 NOT NULL
);
CREATE TABLE toolgen.active (
    session_id text COLLATE "C" PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL,
    engine_id text COLLATE "C" NOT NULL,
    taken_at float8 NOT NULL
);

CREATE TABLE toolgen.state (
    scope text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    document text NOT NULL,
    PRIMARY KEY (scope, owner)
);

CREATE TABLE toolgen.artifact_owner (
    owner text COLLATE "C" PRIMARY KEY,
    saved_at float8 NOT NULL
);
CREATE TABLE toolgen.artifact (
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    media_type text NOT NULL,
    metadata text NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (owner, name, version)
);

CREATE TABLE toolgen.event (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    writer text NOT NULL,
    place bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    time float8 NOT NULL,
    document text NOT NULL,
    UNIQUE (writer, place)
);
CREATE INDEX event_of_run ON toolgen.event (run_id, number);
CREATE INDEX event_of_session ON toolgen.event (session_id, number);
CREATE INDEX event_by_age ON toolgen.event (time);
CREATE TABLE toolgen.payload (
    digest bytea NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    created_at float8 NOT NULL,
    last_used float8 NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (digest, session_id)
);
CREATE INDEX payload_of_session ON toolgen.payload (session_id);
CREATE INDEX payload_by_use ON toolgen.payload (last_used);
ALTER TABLE toolgen.spoken ADD COLUMN is_heard boolean NOT NULL DEFAULT false;
CREATE TABLE toolgen.credential (
    scope text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    expires_at float8,
    key_id text COLLATE "C" NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (scope, owner, name)
);
CREATE INDEX credential_by_name ON toolgen.credential (name);
CREATE INDEX credential_by_end ON toolgen.credential (expires_at);
INSERT INTO toolgen.active (session_id, run_id, engine_id, taken_at) VALUES ('said', 'r0', 'e', 100.0);
INSERT INTO toolgen.answer (run_id, call_id, written_at, messages) VALUES ('r0', 'c', 100.0, '[{"answers":[{"id":"c","name":"add","status":"ok","text":"2","reminder":"","content":[],"bounds":null,"artifacts":[],"resolved_by":""}],"type":"tools"}]');
INSERT INTO toolgen.artifact (owner, name, version, media_type, metadata, data) VALUES ('s', 'plan', 1, 'text/plain', '{}', '\x31'::bytea);
INSERT INTO toolgen.artifact_owner (owner, saved_at) VALUES ('s', 100.0);
INSERT INTO toolgen.engine (id, is_durable, alive_until) VALUES ('e', true, 1000000100.0);
INSERT INTO toolgen.credential (scope, owner, name, expires_at, key_id, data) VALUES ('user', 'ann', 'x', NULL, '3e9996da682ed6c8', '\x8c8e218680224514526da14279aea085ee5ebc6834a94043706189db627621c4d66b05e9bebeae96333fc9');
INSERT INTO toolgen.event (writer, place, run_id, session_id, type, time, document) VALUES ('w', 0, '', '', 'events_dropped', 100.0, '{"format":1,"seq":0,"time":100.0,"run_id":"","session_id":"","turn_id":"","tool_call_id":"","agent_id":"","type":"events_dropped","count":1,"total":1}');
INSERT INTO toolgen.message (run_id, step, written_at, messages) VALUES ('r0', 0, 100.0, '[{"text":"add","source":"person","type":"user"}]');
INSERT INTO toolgen.message (run_id, step, written_at, messages) VALUES ('r0', 1, 100.0, '[{"text":"soon","source":"person","type":"user"},{"text":"","calls":[{"name":"add","arguments":"{}","id":"c"}],"native":null,"type":"assistant"}]');
INSERT INTO toolgen.migration (number) VALUES (1);
INSERT INTO toolgen.migration (number) VALUES (2);
INSERT INTO toolgen.migration (number) VALUES (3);
INSERT INTO toolgen.migration (number) VALUES (4);
INSERT INTO toolgen.payload (digest, session_id, created_at, last_used, data) VALUES ('\xd35c416a85b807e9b5384915d6ebb4a9f7352713efd89857b45a242f473728a9'::bytea, 'r0', 100.0, 100.0, '\x6c61726765'::bytea);
INSERT INTO toolgen.session (id, agent, created_at, ended_at, labels, summary, summary_through) VALUES ('s', 'a', 100.0, NULL, '{}', NULL, NULL);
INSERT INTO toolgen.session (id, agent, created_at, ended_at, labels, summary, summary_through) VALUES ('said', 'home.helper', 100.0, NULL, '{"user": "ann"}', '"sums"', 'r0');
INSERT INTO toolgen.spoken (run_id, id, written_at, messages, is_heard) VALUES ('r0', 'heard', 100.0, '[]', true);
INSERT INTO toolgen.spoken (run_id, id, written_at, messages, is_heard) VALUES ('r0', 'i', 100.0, '[{"text":"later","source":"person","type":"user"}]', false);
INSERT INTO toolgen.state (scope, owner, document) VALUES ('app', 'a', '{"hits": 1}');
INSERT INTO toolgen.turn (run_id, turn_id, session_id, agent, started_at) VALUES ('r0', 't-r0', 'said', 'home.helper', 90.0);
