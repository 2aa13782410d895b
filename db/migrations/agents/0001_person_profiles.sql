-- Agents: what is known of how people write and speak. Rows of a profile lie together, and go together.
create table agents.person_profiles (
  id uuid primary key,
  organization_id uuid not null,
  subject_id uuid not null,
  display_name text not null check (length(display_name) between 1 and 200),
  status text not null default 'DRAFT' check (status in ('DRAFT', 'ACTIVE', 'ARCHIVED')),
  writing_style jsonb not null check (octet_length(writing_style::text) <= 131072),
  speaking_style jsonb not null check (octet_length(speaking_style::text) <= 131072),
  persona_rules text[] not null default '{}',
  usage_policies jsonb not null default '[]',
  voice_profiles jsonb not null default '[]',
  active_snapshot_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index person_profiles_by_age on agents.person_profiles (organization_id, created_at, id);
create index person_profiles_of_subject on agents.person_profiles (organization_id, subject_id, created_at, id);
create index person_profiles_by_status on agents.person_profiles (organization_id, status, created_at, id);
create index person_profiles_of_writer on agents.person_profiles (created_by, created_at);

create table agents.profile_authorizations (
  profile_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('CONSENT', 'CONTRACT', 'EMPLOYMENT', 'OTHER')),
  reference text not null check (length(reference) between 1 and 2000),
  granted_by text,
  granted_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (profile_id, id)
);
create index profile_authorizations_by_id on agents.profile_authorizations (id);

create table agents.profile_sources (
  profile_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('DOCUMENT', 'TRANSCRIPT', 'POST', 'INTERVIEW', 'URL')),
  title text not null check (length(title) between 1 and 200),
  url text,
  content_hash text check (content_hash ~ '^sha256:[0-9a-f]{64}$'),
  language text,
  status text not null check (status in ('PROCESSING', 'READY', 'FAILED')),
  failure jsonb,
  -- While it is PROCESSING: when it is fetched next, and how often that was tried.
  fetch_at timestamptz(3),
  attempts integer not null default 0,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (profile_id, id),
  constraint ready_has_a_hash check ((status = 'READY') = (content_hash is not null)),
  constraint failed_says_why check ((status = 'FAILED') = (failure is not null)),
  constraint processing_has_a_time check ((status = 'PROCESSING') = (fetch_at is not null))
);
create index profile_sources_by_id on agents.profile_sources (id);
create index profile_sources_by_age on agents.profile_sources (profile_id, created_at, id);
create index profile_sources_to_fetch on agents.profile_sources (fetch_at) where fetch_at is not null;

-- The texts of sources lie apart from them, for lists of sources are read far more often than what is in them.
create table agents.profile_texts (
  profile_id uuid not null,
  source_id uuid not null,
  text text not null check (text <> ''),
  primary key (profile_id, source_id)
);
create index profile_texts_by_source on agents.profile_texts (source_id);

create table agents.style_snapshots (
  profile_id uuid not null,
  id uuid not null,
  number integer not null check (number > 0),
  source_ids text[] not null,
  writing_style jsonb not null,
  speaking_style jsonb not null,
  measures jsonb not null,
  summary text,
  model text,
  -- Of style and texts: the same for what would be the same snapshot again.
  digest text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (profile_id, id)
);
create index style_snapshots_by_id on agents.style_snapshots (id);
create index style_snapshots_by_age on agents.style_snapshots (profile_id, created_at, id);
create unique index style_snapshot_numbers_once on agents.style_snapshots (profile_id, number);

create table agents.audit_entries (
  tenant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  subject_id uuid not null,
  details jsonb not null default '{}',
  primary key (tenant_id, id)
);
create index audit_entries_by_age on agents.audit_entries (at);

-- What an idempotency key has made, for everybody of the organization.
create table agents.idempotency_keys (
  tenant_id uuid not null,
  caller text not null,
  what text not null,
  key text not null check (length(key) between 1 and 200),
  hash text not null,
  made_id uuid not null,
  at timestamptz(3) not null,
  primary key (tenant_id, caller, what, key)
);
create unique index a_key_makes_one_thing on agents.idempotency_keys (tenant_id, what, key);
create index idempotency_keys_by_age on agents.idempotency_keys (at);

-- Facts for other subgraphs: a row for each receiver, written with what made it true (platform/facts.ts).
create table agents.facts (
  receiver text not null,
  -- Facts of one subject have their numbers in the order in which they became true.
  seq bigint generated always as identity,
  id uuid not null,
  kind text not null,
  subject text not null check (length(subject) between 1 and 300),
  body jsonb not null check (octet_length(body::text) <= 65536),
  at timestamptz(3) not null,
  -- When it is told next; null once it is delivered, and while it is refused.
  next_at timestamptz(3),
  attempts integer not null default 0,
  -- What the receiver said last.
  failure text check (length(failure) <= 500),
  delivered_at timestamptz(3),
  primary key (receiver, seq)
);
create index facts_on_their_way on agents.facts (receiver, subject, seq) where delivered_at is null;
create index facts_by_turn on agents.facts (next_at) where next_at is not null;
create index facts_by_age on agents.facts (delivered_at) where delivered_at is not null;

-- Facts of other subgraphs that were acted on, each once.
create table agents.inbox (
  writer text not null,
  fact_id uuid not null,
  kind text not null,
  subject text not null,
  -- When it became true, by the writer's clock, and when it was received.
  told_at timestamptz(3) not null,
  at timestamptz(3) not null,
  primary key (writer, fact_id)
);
create index inbox_by_age on agents.inbox (at);
