-- Ids are UUID everywhere, those of the credential library's tables too: it writes ids of ours, and reads a column of this type like one of
-- text. Moments of our own tables count in milliseconds, and who made a row is named as the record names it.
alter table identity.sessions drop constraint sessions_user_id_fkey;
alter table identity.accounts drop constraint accounts_user_id_fkey;
alter table identity.sign_in_addresses drop constraint sign_in_addresses_user_id_fkey;
alter table identity.memberships drop constraint memberships_user_id_fkey, drop constraint memberships_organization_id_fkey;
alter table identity.api_keys drop constraint api_keys_organization_id_fkey;
alter table identity.audit_entries drop constraint audit_entries_organization_id_fkey;

alter table identity.users
  alter column id type uuid using id::uuid,
  -- Whoever writes a row says when.
  alter column created_at drop default,
  alter column updated_at drop default;
alter table identity.sessions
  alter column id type uuid using id::uuid,
  alter column user_id type uuid using user_id::uuid,
  alter column active_organization_id type uuid using active_organization_id::uuid;
-- `account_id` is what a provider calls the person: text, whoever the provider is.
alter table identity.accounts alter column id type uuid using id::uuid, alter column user_id type uuid using user_id::uuid;
alter table identity.verifications alter column id type uuid using id::uuid;
alter table identity.signing_keys alter column id type uuid using id::uuid;
alter table identity.sign_in_addresses alter column user_id type uuid using user_id::uuid;

alter table identity.organizations
  alter column id type uuid using id::uuid,
  alter column version set default 1,
  alter column created_at type timestamptz(3),
  alter column updated_at type timestamptz(3),
  alter column created_by type text using coalesce('user:' || created_by, 'platform'),
  alter column created_by set not null;

alter table identity.memberships
  alter column organization_id type uuid using organization_id::uuid,
  alter column id type uuid using id::uuid,
  alter column user_id type uuid using user_id::uuid,
  alter column last_used_at type timestamptz(3),
  alter column version set default 1,
  alter column created_at type timestamptz(3),
  alter column updated_at type timestamptz(3),
  alter column created_by type text using coalesce('user:' || created_by, 'platform'),
  alter column created_by set not null;
create unique index memberships_by_id on identity.memberships (id);

alter table identity.api_keys
  alter column organization_id type uuid using organization_id::uuid,
  alter column id type uuid using id::uuid,
  alter column expires_at type timestamptz(3),
  alter column revoked_at type timestamptz(3),
  alter column last_used_at type timestamptz(3),
  alter column version set default 1,
  alter column created_at type timestamptz(3),
  alter column updated_at type timestamptz(3),
  alter column created_by type text using coalesce('user:' || created_by, 'platform'),
  alter column created_by set not null;

alter table identity.service_entries
  alter column id type uuid using id::uuid,
  alter column version set default 1,
  alter column created_at type timestamptz(3),
  alter column updated_at type timestamptz(3);

alter table identity.sessions add foreign key (user_id) references identity.users (id) on delete cascade;
alter table identity.accounts add foreign key (user_id) references identity.users (id) on delete cascade;
alter table identity.sign_in_addresses add foreign key (user_id) references identity.users (id) on delete cascade;
alter table identity.memberships
  add foreign key (user_id) references identity.users (id),
  add foreign key (organization_id) references identity.organizations (id);
alter table identity.api_keys add foreign key (organization_id) references identity.organizations (id);

-- The record looks as it does in every subgraph.
alter table identity.audit_entries rename column organization_id to tenant_id;
alter table identity.audit_entries rename column user_id to actor;
alter table identity.audit_entries rename column target to subject_id;
alter table identity.audit_entries
  alter column tenant_id type uuid using tenant_id::uuid,
  alter column id type uuid using id::uuid,
  alter column at type timestamptz(3),
  alter column actor type text using coalesce('user:' || actor, 'platform'),
  alter column actor set not null,
  alter column subject_id type uuid using subject_id::uuid,
  add column details jsonb not null default '{}';
create index audit_entries_of_subject on identity.audit_entries (tenant_id, subject_id, at);

-- What an idempotency key has made, for the organization and the caller who sent it.
create table identity.idempotency_keys (
  tenant_id uuid not null,
  caller text not null,
  what text not null,
  key text not null check (length(key) between 1 and 200),
  hash text not null,
  made_id uuid not null,
  at timestamptz(3) not null,
  primary key (tenant_id, caller, what, key)
);
-- What a key was made of, as it is written down from now on: its expiry, its name and its scopes in JSON.
insert into identity.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at)
  select k.organization_id, k.created_by, 'API key', k.idempotency_key,
      encode(sha256(convert_to('[["expiresAt",' || coalesce(to_json(to_char(k.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text, 'null')
        || '],["name",' || to_json(k.name)::text || '],["scopes",['
        || (select string_agg(to_json(scope)::text, ',' order by place) from unnest(k.scopes) with ordinality as scopes (scope, place)) || ']]]', 'UTF8')), 'hex'),
      k.id, k.created_at
    from identity.api_keys k where k.idempotency_key is not null;
alter table identity.api_keys drop column idempotency_key;
