-- Providers: what the platform and its organizations call third parties with.
create table providers.credentials (
  id uuid primary key,
  level text not null check (level in ('ORGANIZATION', 'PLATFORM')),
  -- Whose it is; null for the platform's own, which organizations fall back to.
  organization_id uuid,
  provider text not null check (provider ~ '^[a-z][a-z_]{0,39}$'),
  name text not null check (length(name) between 1 and 100),
  -- The fields that are no secret, by name.
  plain jsonb not null,
  -- The one field that is: sealed, and what people are shown of it.
  secret text not null,
  masked text not null,
  base_url text,
  status text not null default 'UNTESTED' check (status in ('UNTESTED', 'WORKING', 'FAILING', 'DISABLED')),
  tested_at timestamptz(3),
  test_message text,
  last_used_at timestamptz(3),
  rotated_at timestamptz(3),
  grace_ends_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint the_platforms_is_no_organizations check ((level = 'PLATFORM') = (organization_id is null))
);
create index credentials_by_age on providers.credentials (organization_id, created_at, id);
create unique index one_credential_of_a_provider on providers.credentials (organization_id, provider) nulls not distinct where provider <> 'custom';
create unique index custom_providers_by_name on providers.credentials (organization_id, name) nulls not distinct where provider = 'custom';
-- With which encryption keys secrets were sealed.
create index credentials_by_key on providers.credentials (split_part(secret, '.', 2));

create table providers.audit_entries (
  tenant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  subject_id uuid not null,
  details jsonb not null default '{}',
  primary key (tenant_id, id)
);
create index audit_entries_by_age on providers.audit_entries (at);

-- What an idempotency key has made, for everybody of the organization.
create table providers.idempotency_keys (
  tenant_id uuid not null,
  caller text not null,
  what text not null,
  key text not null check (length(key) between 1 and 200),
  hash text not null,
  made_id uuid not null,
  at timestamptz(3) not null,
  primary key (tenant_id, caller, what, key)
);
create unique index a_key_makes_one_thing on providers.idempotency_keys (tenant_id, what, key);
create index idempotency_keys_by_age on providers.idempotency_keys (at);

-- Facts for other subgraphs: a row for each receiver, written with what made it true (platform/facts.ts).
create table providers.facts (
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
create index facts_on_their_way on providers.facts (receiver, subject, seq) where delivered_at is null;
create index facts_by_turn on providers.facts (next_at) where next_at is not null;
create index facts_by_age on providers.facts (delivered_at) where delivered_at is not null;

-- Facts of other subgraphs that were acted on, each once.
create table providers.inbox (
  writer text not null,
  fact_id uuid not null,
  kind text not null,
  subject text not null,
  -- When it became true, by the writer's clock, and when it was received.
  told_at timestamptz(3) not null,
  at timestamptz(3) not null,
  primary key (writer, fact_id)
);
create index inbox_by_age on providers.inbox (at);
