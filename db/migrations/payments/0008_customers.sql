-- compatible: a program that does not know customers names none, and writes orders without metadata.
create table payments.customers (
  organization_id uuid not null,
  id uuid not null,
  -- What may be erased: null, or empty, from then on.
  name text check (name <> ''),
  email text,
  reference text,
  user_id uuid,
  metadata jsonb not null default '[]',
  -- What the processor knows the customer by; null before the first payment method.
  processor_id text,
  erased_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id),
  constraint erased_customers_are_empty check (erased_at is null or (name is null and email is null and reference is null and user_id is null and metadata = '[]'))
);
create index customers_by_id on payments.customers (id);
create index customers_by_age on payments.customers (organization_id, created_at, id);

create table payments.payment_methods (
  customer_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  -- The processor's token.
  processor_id text not null,
  brand text,
  last4 text check (length(last4) <= 4),
  exp_month integer,
  exp_year integer,
  is_default boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (customer_id, id)
);
create index payment_methods_by_id on payments.payment_methods (id);
create index payment_methods_of_customer on payments.payment_methods (customer_id, created_at, id);
create unique index one_default_method on payments.payment_methods (customer_id) where is_default;

alter table payments.orders
  add column customer_id uuid,
  add column venue_id uuid,
  add column metadata jsonb not null default '[]';
create index orders_of_customer on payments.orders (customer_id, created_at, id) where customer_id is not null;
create index orders_by_metadata on payments.orders using gin (metadata jsonb_path_ops) where metadata <> '[]';

-- Parts of words within one organization: both extensions come with PostgreSQL. Where they may not be made, searches are right and slow.
do $$
declare
  trigrams text;
  keys text;
begin
  create extension if not exists pg_trgm with schema payments;
  create extension if not exists btree_gin with schema payments;
  select quote_ident(n.nspname) into trigrams from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  select quote_ident(n.nspname) into keys from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'btree_gin';
  execute format('create index customers_by_words on payments.customers using gin (organization_id %s.uuid_ops,
    lower(coalesce(name, '''') || '' '' || coalesce(email, '''') || '' '' || coalesce(reference, '''')) %s.gin_trgm_ops)', keys, trigrams);
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise warning 'pg_trgm or btree_gin cannot be installed: searches for customers read all of an organization';
end $$;
