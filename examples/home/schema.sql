create table site (
  id text primary key,
  name text not null,
  timezone text not null
);

create table device (
  id text primary key,
  site_id text not null references site (id),
  room text not null,
  name text not null,
  kind text not null,
  manual text not null,
  status text not null,
  quantity text not null,
  unit text not null,
  commands text not null, -- JSON: the commands that it takes
  settings text not null  -- JSON: what the commands have set
);

create table reading (
  device_id text not null references device (id),
  at integer not null, -- seconds since 1970, UTC
  value real not null,
  primary key (device_id, at)
) without rowid;

create table firmware_job (
  id text primary key,
  device_id text not null references device (id),
  user_id text not null references user (id),
  version text not null,
  percent integer not null default 0
);

create table user (
  id text primary key,
  display_name text not null,
  email text not null,
  member_since text not null,
  preferences text not null, -- JSON
  pin text not null -- of the example; a real host keeps a salted hash
);

create table member (
  user_id text not null references user (id),
  site_id text not null references site (id),
  primary key (user_id, site_id)
) without rowid;

create table session (
  id text primary key,
  user_id text not null references user (id),
  started_at text not null
);

-- A place in a manual. Rows stand in the order of the text.
create table section (
  id integer primary key,
  ref text not null unique, -- "bolt-l4", "bolt-l4/2", "bolt-l4/2.1"
  parent text references section (ref),
  level integer not null,
  manual text not null,
  title text not null,
  heading text not null, -- the titles that lead here
  body text not null
);

create virtual table section_text using fts5 (
  title, body, content = 'section', content_rowid = 'id', tokenize = 'porter unicode61'
);
