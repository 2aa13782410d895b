-- compatible: a program that does not know service clients never asks for them.
-- Apps that call the gateway for themselves, and what each may have done.
create table providers.service_clients (
  id uuid primary key,
  app_id text not null check (app_id ~ '^app_[a-z0-9_]{1,60}$'),
  name text not null check (length(name) between 1 and 100),
  operations text[] not null check (
    operations <@ '{COMPLETIONS,TRANSCRIPTIONS,IMAGES,EMBEDDINGS,EMAIL,PAYMENTS,TRANSFERS,VIDEO,NETWORK_APPLICATIONS}'::text[]
    and cardinality(operations) <= 9
  ),
  active boolean not null,
  last_used_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create unique index an_app_has_one_client on providers.service_clients (app_id);
create index service_clients_by_age on providers.service_clients (created_at, id);

-- What they show: of each its hash, never the clear text.
create table providers.service_tokens (
  id uuid primary key,
  client_id uuid not null references providers.service_clients (id) on delete cascade,
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  prefix text not null check (length(prefix) between 1 and 20),
  created_at timestamptz(3) not null,
  created_by text not null,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create unique index service_tokens_by_hash on providers.service_tokens (hash);
create index service_tokens_of_client on providers.service_tokens (client_id, created_at desc, id desc);
