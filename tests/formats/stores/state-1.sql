BEGIN TRANSACTION;
CREATE TABLE state (
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (scope, owner)
) STRICT
;
INSERT INTO "state" VALUES('app','a','{"hits": 1}');
COMMIT;
PRAGMA application_id = 1952928628;
PRAGMA user_version = 1;
