-- compatible: a program that does not know usage never asks for it.

-- When recording began: what was not used before that day is not known.
create table usage.recording (
  single boolean primary key default true check (single),
  began_at timestamptz(3) not null
);

-- How often a client used the same coordinates by the same operation, by UTC day. No literal, variable or person.
create table usage.sums (
  day date not null,
  key text not null,
  client text not null check (length(client) between 1 and 100),
  version text not null check (length(version) between 1 and 100),
  variant text not null,
  operation text not null,
  document text not null,
  coordinates text[] not null,
  count bigint not null check (count > 0),
  last_used_at timestamptz(3) not null,
  primary key (day, key)
);
