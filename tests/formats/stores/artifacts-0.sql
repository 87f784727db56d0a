CREATE TABLE IF NOT EXISTS artifact (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    metadata TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (owner, name, version)
) STRICT;
INSERT INTO artifact VALUES ('s', 'plan', 1, 'text/plain', '{}', x'31');
