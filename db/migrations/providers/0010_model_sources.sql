-- compatible: a program that does not know sources of models asks none, and tells nobody that a model ends.
-- Where models are known from.
create table providers.model_sources (
  id uuid primary key,
  name text not null unique check (length(name) between 1 and 40),
  kind text not null check (kind in ('PROVIDER_API', 'OPEN_CATALOG')),
  status text not null default 'NEVER' check (status in ('HEALTHY', 'FAILING', 'NEVER')),
  last_attempt_at timestamptz(3),
  last_success_at timestamptz(3),
  failure text check (length(failure) <= 500),
  models integer not null default 0
);

-- Each run of asking them. One goes on at a time; one that is not finished by then was left by a process that ended.
create table providers.model_syncs (
  id uuid primary key,
  started_at timestamptz(3) not null,
  ends_by timestamptz(3) not null,
  finished_at timestamptz(3),
  sources jsonb not null default '[]',
  added integer not null default 0,
  changed integer not null default 0,
  retired integer not null default 0
);
create unique index one_sync_at_a_time on providers.model_syncs ((true)) where finished_at is null;
create index model_syncs_by_age on providers.model_syncs (started_at desc);

-- Whose managers are told of the platform's own settings: the organization from which they were set last.
alter table providers.model_preferences add column tenant_id uuid;
alter table providers.fallback_chains add column tenant_id uuid;

-- Who was told that a model ends which they have set.
create table providers.model_warnings (
  organization_id uuid not null,
  model text not null,
  since timestamptz(3) not null,
  primary key (organization_id, model)
);

create index candidates_by_age on providers.models (first_seen_at desc, id) where not configured;
create index models_that_end on providers.models (name) where lifecycle <> 'ACTIVE';
