-- compatible: a program that does not know workspaces, memory and the kill switch never asks for them.
create table agents.operating_workspaces (
  id uuid primary key,
  organization_id uuid not null unique,
  state jsonb not null default '{}',
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);

create table agents.memories (
  id uuid primary key,
  organization_id uuid not null,
  key text not null check (length(key) between 1 and 200),
  text text not null,
  updated_by_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create unique index a_memory_has_a_key_once on agents.memories (organization_id, key);
create index memories_by_age on agents.memories (organization_id, created_at, id);

-- What is held: a row while it is. The id is the organization's own, or that of the agent.
create table agents.kill_switches (
  id uuid primary key,
  organization_id uuid not null,
  reason text check (length(reason) <= 500),
  at timestamptz(3) not null,
  user_id uuid,
  created_by text not null
);
create index kill_switches_of_organization on agents.kill_switches (organization_id);
