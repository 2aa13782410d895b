-- Payments: merchants, and what is bought of them. Rows of a merchant lie together, so that merchants can be spread over machines.
create table payments.merchants (
  id uuid primary key,
  organization_id uuid not null,
  name text not null check (name <> ''),
  default_currency text not null check (default_currency ~ '^[A-Z]{3}$'),
  is_default boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index merchants_by_organization on payments.merchants (organization_id, created_at, id);
create unique index one_default_merchant on payments.merchants (organization_id) where is_default;

create table payments.orders (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  number text not null,
  status text not null default 'DRAFT'
    check (status in ('DRAFT', 'PENDING', 'PAID', 'PARTIALLY_REFUNDED', 'REFUNDED', 'CANCELLED', 'FAILED')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Amounts in minor units, as digits: JSON numbers may become fractions on their way.
  lines jsonb not null,
  subtotal_minor bigint not null check (subtotal_minor >= 0),
  discount_minor bigint not null check (discount_minor >= 0),
  tax_minor bigint not null check (tax_minor >= 0),
  total_minor bigint not null check (total_minor between 1 and 999999999999),
  description text,
  reference text,
  user_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint an_order_adds_up check (total_minor = subtotal_minor - discount_minor + tax_minor)
);
create index orders_by_id on payments.orders (id);
create unique index order_numbers_once on payments.orders (organization_id, number);
create index orders_by_age on payments.orders (organization_id, created_at, id);
create index orders_by_status on payments.orders (organization_id, status, created_at, id);
create index orders_of_merchant on payments.orders (merchant_id, created_at, id);
create index orders_by_reference on payments.orders (organization_id, reference, created_at, id) where reference is not null;
create index orders_of_writer on payments.orders (created_by, created_at);

-- The last number that an organization's orders were given.
create table payments.order_numbers (
  organization_id uuid primary key,
  last bigint not null
);

create table payments.audit_entries (
  tenant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  subject_id uuid not null,
  details jsonb not null default '{}',
  primary key (tenant_id, id)
);
create index audit_entries_by_age on payments.audit_entries (at);

-- What an idempotency key has made, for everybody of the organization.
create table payments.idempotency_keys (
  tenant_id uuid not null,
  caller text not null,
  what text not null,
  key text not null check (length(key) between 1 and 255),
  hash text not null,
  made_id uuid not null,
  at timestamptz(3) not null,
  primary key (tenant_id, caller, what, key)
);
create unique index a_key_makes_one_thing on payments.idempotency_keys (tenant_id, what, key);
create index idempotency_keys_by_age on payments.idempotency_keys (at);

-- Facts for other subgraphs: a row for each receiver, written with what made it true (platform/facts.ts).
create table payments.facts (
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
create index facts_on_their_way on payments.facts (receiver, subject, seq) where delivered_at is null;
create index facts_by_turn on payments.facts (next_at) where next_at is not null;
create index facts_by_age on payments.facts (delivered_at) where delivered_at is not null;

-- Facts of other subgraphs that were acted on, each once.
create table payments.inbox (
  writer text not null,
  fact_id uuid not null,
  kind text not null,
  subject text not null,
  -- When it became true, by the writer's clock, and when it was received.
  told_at timestamptz(3) not null,
  at timestamptz(3) not null,
  primary key (writer, fact_id)
);
create index inbox_by_age on payments.inbox (at);
