CREATE TABLE IF NOT EXISTS state (
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (scope, owner)
) STRICT;
INSERT INTO state VALUES ('app', 'a', '{"hits": 1}');
