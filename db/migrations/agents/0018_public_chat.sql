-- compatible: a program that does not know the public chat never asks for it.
create table agents.chat_sites (
  id uuid primary key,
  organization_id uuid not null,
  slug text not null,
  enabled boolean not null default false,
  personas jsonb not null default '[]' check (octet_length(personas::text) <= 1048576),
  blocked_words text[] not null default '{}',
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create unique index an_organization_has_one_chat on agents.chat_sites (organization_id);
create index chat_sites_by_slug on agents.chat_sites (slug);

create table agents.chat_sessions (
  id uuid primary key,
  organization_id uuid not null,
  -- The clearance is kept as a hash, the visitor's address as a keyed one.
  clearance_hash text not null,
  address_hash text not null,
  persona text not null,
  turns_taken integer not null default 0,
  expires_at timestamptz(3) not null,
  started_at timestamptz(3) not null,
  last_turn_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create unique index chat_sessions_by_clearance on agents.chat_sessions (clearance_hash);
create index chat_sessions_by_start on agents.chat_sessions (organization_id, created_at, id);
create index chat_sessions_by_age on agents.chat_sessions (last_turn_at);

create table agents.chat_turns (
  id uuid primary key,
  session_id uuid not null,
  organization_id uuid not null,
  role text not null check (role in ('USER', 'AGENT')),
  text text not null,
  mode text check (mode in ('MODEL', 'EXTRACTIVE')),
  sources jsonb not null default '[]',
  flagged boolean not null default false,
  helpful boolean,
  comment text check (length(comment) <= 2000),
  at timestamptz(3) not null
);
create index chat_turns_of_session on agents.chat_turns (session_id, at, id);
create index chat_turns_by_age on agents.chat_turns (at);

-- Calls within a window that begins with the first of them, over all processes.
create unlogged table agents.chat_rates (
  key text primary key,
  count integer not null,
  ends_at timestamptz(3) not null
);
create index chat_rates_by_age on agents.chat_rates (ends_at);

-- What this service's processes share and nobody reads: encrypted.
create table agents.secrets (
  name text primary key,
  value text not null
);
