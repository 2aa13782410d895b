-- Ids are text, because better-auth's are: a session's organization and an organization's id must compare without a cast.

create table identity.organizations (
  id         text primary key,
  slug       text not null unique,
  name       text not null,
  version    integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text
);

create table identity.memberships (
  organization_id text not null references identity.organizations (id),
  id              text not null,
  user_id         text not null references identity.users (id),
  roles           text[] not null check (cardinality(roles) > 0),
  -- When the person last made this organization the active one: a sign-in begins in the latest.
  last_used_at    timestamptz,
  version         integer not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  created_by      text,
  primary key (organization_id, id),
  unique (organization_id, user_id)
);
create index memberships_of_user on identity.memberships (user_id, created_at, id);
create index memberships_by_age on identity.memberships (organization_id, created_at, id);

create table identity.api_keys (
  organization_id text not null references identity.organizations (id),
  id              text not null,
  name            text not null,
  -- SHA-256 of the clear text, hex. A key has 256 random bits, so two equal hashes are one key.
  hash            text not null,
  -- The first characters of the clear text, by which people recognise a key.
  prefix          text not null,
  scopes          text[] not null check (cardinality(scopes) > 0),
  expires_at      timestamptz,
  revoked_at      timestamptz,
  last_used_at    timestamptz,
  idempotency_key text,
  version         integer not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  created_by      text,
  primary key (organization_id, id),
  unique (organization_id, created_by, idempotency_key)
);
create index api_keys_by_hash on identity.api_keys (hash);
create index api_keys_by_id on identity.api_keys (id);
create index api_keys_by_age on identity.api_keys (organization_id, created_at desc, id desc);

create table identity.service_entries (
  id              text primary key,
  environment     text not null,
  slug            text not null,
  app_id          text not null,
  title           text not null,
  contexts        text[] not null,
  icon            text not null,
  -- [{ "name": "posts.read", "meaning": "…" }]
  scopes          jsonb not null,
  -- Scopes of other services that this one's own calls carry.
  asks            text[] not null,
  widget_audience text check (widget_audience in ('organization', 'user')),
  lifecycle       text not null check (lifecycle in ('active', 'deprecated', 'retired')),
  -- { "<role>": "<address>" }
  addresses       jsonb not null,
  -- Who keeps the entry: `platform` for services that register at start, else the organization that entered it.
  owner           text not null,
  version         integer not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  unique (environment, slug),
  unique (environment, app_id)
);

create table identity.audit_entries (
  organization_id text not null references identity.organizations (id),
  id              text not null,
  -- The person who acted; null for the platform itself.
  user_id         text,
  action          text not null,
  target          text not null,
  at              timestamptz not null,
  primary key (organization_id, id)
);

-- Addresses from which somebody signed in, hashed: from these a right password is accepted even while guesses are refused.
create table identity.sign_in_addresses (
  user_id      text not null references identity.users (id) on delete cascade,
  address_hash text not null,
  last_at      timestamptz not null,
  primary key (user_id, address_hash)
);
