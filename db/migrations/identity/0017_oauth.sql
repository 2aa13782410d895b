-- compatible: programs of before have no OAuth clients, and let their sessions be.
-- Applications that people let act for them. They are the platform's: rows belong to the organization `admin`.
create table identity.oauth_clients (
  organization_id uuid not null references identity.organizations (id),
  id uuid not null,
  -- What the client calls itself by: no secret.
  client_id text not null unique,
  name text not null,
  type text not null check (type in ('public', 'confidential')),
  -- SHA-256 of the secret, hex: it has 256 random bits.
  secret_hash text,
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  -- The most that it may ask for.
  scopes text[] not null check (cardinality(scopes) > 0),
  -- Acts as the person does, and asks for no consent.
  trusted boolean not null,
  disabled_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id),
  check ((type = 'confidential') = (secret_hash is not null))
);
create index oauth_clients_by_id on identity.oauth_clients (id);
create index oauth_clients_by_age on identity.oauth_clients (organization_id, created_at, id);

-- What a person has agreed to, until it is taken back.
create table identity.oauth_consents (
  id uuid primary key,
  user_id uuid not null references identity.users (id) on delete cascade,
  client_id text not null references identity.oauth_clients (client_id),
  scopes text[] not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (user_id, client_id)
);
create index oauth_consents_of_client on identity.oauth_consents (client_id);

-- What travels with a browser, by its SHA-256: a request that waits for consent, and a code that a client exchanges for tokens.
create table identity.oauth_codes (
  hash text primary key,
  purpose text not null check (purpose in ('consent', 'code')),
  user_id uuid not null references identity.users (id) on delete cascade,
  client_id text not null,
  -- What was asked for, and in which organization.
  asked jsonb not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  -- A code that was used is remembered: when it comes again, what it gave ends.
  used_at timestamptz(3),
  session_id uuid
);
create index oauth_codes_unused on identity.oauth_codes (user_id, created_at) where used_at is null;
create index oauth_codes_by_end on identity.oauth_codes (expires_at);
create index oauth_codes_unused_by_end on identity.oauth_codes (expires_at) where used_at is null;

-- A session's refresh tokens. All of one family begin alike; the rest of each is good once. It ends with its session.
create table identity.oauth_families (
  session_id uuid primary key references identity.sessions (id) on delete cascade,
  -- SHA-256 of what they have in common, and of the one that is good, hex.
  family_hash text not null unique,
  refresh_hash text not null,
  -- When the person signed in.
  auth_time timestamptz(3) not null,
  created_at timestamptz(3) not null
);
