-- Ids are UUID everywhere; the record of who did what and the keys of what was made look alike in every subgraph.
alter table publishing.brands
  drop constraint a_brand_belongs_to_somebody,
  alter column organization_id type uuid using organization_id::uuid;
alter table publishing.posts alter column author_id type uuid using author_id::uuid;
alter table publishing.connections
  drop constraint a_connection_names_its_account,
  alter column author_id type uuid using author_id::uuid,
  add constraint a_connection_names_its_account check (external_account_id <> '' and account_name <> '');
alter table publishing.authorizations alter column user_id type uuid using user_id::uuid;

alter table publishing.audit_entries rename column brand_id to tenant_id;

-- What an idempotency key has made, for the organization and the caller who sent it.
create table publishing.idempotency_keys (
  tenant_id uuid not null,
  caller text not null,
  what text not null,
  key text not null check (length(key) between 1 and 200),
  hash text not null,
  made_id uuid not null,
  at timestamptz(3) not null,
  primary key (tenant_id, caller, what, key)
);
insert into publishing.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at)
  select organization_id, created_by, 'brand', idempotency_key, idempotency_hash, id, created_at
    from publishing.brands where idempotency_key is not null;
-- The same key may have been used for two brands of an organization, when a key counted for one brand: the first stands.
insert into publishing.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at)
  select b.organization_id, p.created_by, 'post', p.idempotency_key, p.idempotency_hash, p.id, p.created_at
    from publishing.posts p join publishing.brands b on b.id = p.brand_id where p.idempotency_key is not null order by p.created_at
  on conflict do nothing;
alter table publishing.brands drop column idempotency_key, drop column idempotency_hash;
alter table publishing.posts drop column idempotency_key, drop column idempotency_hash;
