-- compatible: a program that does not know invoices writes none, and leaves those of an order that it sees paid to be paid later.
create table payments.invoices (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  -- Null for a draft; consecutive for its merchant from then on.
  number text,
  status text not null default 'DRAFT' check (status in ('DRAFT', 'FINALIZED', 'PAID', 'VOID')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Amounts in minor units, as digits.
  lines jsonb not null,
  subtotal_minor bigint not null check (subtotal_minor >= 0),
  discount_minor bigint not null check (discount_minor >= 0),
  tax_minor bigint not null check (tax_minor >= 0),
  total_minor bigint not null check (total_minor between 1 and 999999999999),
  -- What was paid, by its order or by another way; credit notes never exceed it.
  paid_minor bigint not null default 0 check (paid_minor between 0 and total_minor),
  customer_id uuid not null,
  -- The order that pays it; a draft of lines gets one when it is finalized.
  order_id uuid,
  memo text,
  metadata jsonb not null default '[]',
  issued_at timestamptz(3),
  due_at timestamptz(3),
  paid_at timestamptz(3),
  -- Names of both sides as they were when it was issued.
  parties jsonb,
  payment_url text,
  -- Whether its customer gets mail of it.
  is_mailed boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint an_invoice_adds_up check (total_minor = subtotal_minor - discount_minor + tax_minor),
  constraint drafts_alone_have_no_number check ((status = 'DRAFT') = (number is null)),
  constraint what_is_issued_is_whole check (status = 'DRAFT' or issued_at is not null and due_at is not null and order_id is not null and parties is not null),
  constraint paid_has_a_time check ((status = 'PAID') = (paid_at is not null))
);
create index invoices_by_id on payments.invoices (id);
create unique index invoice_numbers_once on payments.invoices (merchant_id, number) where number is not null;
create unique index one_invoice_an_order on payments.invoices (order_id) where order_id is not null and status <> 'VOID';
create index invoices_of_order on payments.invoices (order_id, created_at, id) where order_id is not null;
create index invoices_by_age on payments.invoices (organization_id, created_at, id);
create index invoices_by_status on payments.invoices (organization_id, status, created_at, id);
create index invoices_of_customer on payments.invoices (customer_id, created_at, id);
create index invoices_of_merchant on payments.invoices (merchant_id, created_at, id);
create index invoices_of_writer on payments.invoices (created_by, created_at);

-- The last number that a merchant's invoices were given: its row is locked until the invoice is written, so that no number is left out.
create table payments.invoice_numbers (
  merchant_id uuid primary key,
  organization_id uuid not null,
  last bigint not null
);

create table payments.credit_notes (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  -- 1, 2, 3 … of its invoice.
  sequence integer not null check (sequence > 0),
  number text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reason text,
  -- The refund that was made with it.
  refund_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id)
);
create index credit_notes_by_id on payments.credit_notes (id);
create unique index credit_notes_in_turn on payments.credit_notes (invoice_id, sequence);
create index credit_notes_by_age on payments.credit_notes (organization_id, created_at, id);
create index credit_notes_of_invoice on payments.credit_notes (invoice_id, created_at, id);
