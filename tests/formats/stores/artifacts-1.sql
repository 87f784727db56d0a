BEGIN TRANSACTION;
CREATE TABLE artifact (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    metadata TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (owner, name, version)
) STRICT
;
INSERT INTO "artifact" VALUES('s','plan',1,'text/plain','{}',X'31');
CREATE TABLE artifact_owner (owner TEXT NOT NULL PRIMARY KEY, saved_at REAL NOT NULL) STRICT
;
INSERT INTO "artifact_owner" VALUES('s',100.0);
COMMIT;
PRAGMA application_id = 1952924018;
PRAGMA user_version = 1;
