-- compatible: a program that does not know checkout opens no session, and its money is never late.
alter table payments.orders
  -- Its newest session.
  add column checkout_session_id uuid,
  -- Money that came although nothing could take it, what of that went back by itself, and what could not be given back.
  add column late_minor bigint not null default 0 check (late_minor >= 0),
  add column late_returned_minor bigint not null default 0 check (late_returned_minor >= 0),
  add column late_kept_minor bigint not null default 0 check (late_kept_minor >= 0),
  add constraint no_more_late_money_ends_than_came check (late_returned_minor + late_kept_minor <= late_minor),
  drop constraint no_more_is_taken_than_is_owed,
  add constraint no_more_is_taken_than_is_owed check (captured_minor <= total_minor + late_minor and authorized_minor <= total_minor);

alter table payments.transactions
  -- Of money that no order could take, or of what gives it back.
  add column is_late boolean not null default false,
  -- The payment at the processor that it refunds or releases, where that is not the order's own.
  add column payment_id text,
  -- The processor's customer whose kept method is charged.
  add column payment_customer text;
drop index payments.one_payment_at_a_time;
create unique index one_payment_at_a_time on payments.transactions (order_id)
  where status in ('PENDING', 'UNKNOWN') and type in ('AUTHORIZE', 'CAPTURE', 'PURCHASE', 'VOID') and not is_late;

-- Pages of the processor on which an order is paid.
create table payments.checkout_sessions (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  order_id uuid not null,
  -- The link that opened it; null for one that was asked for.
  link_id uuid,
  status text not null default 'OPEN' check (status in ('OPEN', 'COMPLETED', 'EXPIRED', 'CLOSED')),
  -- The order's status before it, to which it returns when no page could be opened.
  status_before text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  title text not null,
  capture_mode text not null check (capture_mode in ('AUTOMATIC', 'MANUAL')),
  success_url text not null,
  cancel_url text not null,
  -- What the processor calls it, and where it shows the page; null until it has answered.
  processor_id text,
  url text,
  expires_at timestamptz(3) not null,
  -- When it is looked at the processor next; null once nothing more can come of it.
  next_look_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id)
);
create index checkout_sessions_by_id on payments.checkout_sessions (id);
create index checkout_sessions_at_processor on payments.checkout_sessions (processor_id) where processor_id is not null;
create index checkout_sessions_by_turn on payments.checkout_sessions (next_look_at) where next_look_at is not null;
create unique index one_open_session on payments.checkout_sessions (order_id) where status = 'OPEN';

-- Addresses that lead payers to a session of their order.
create table payments.payment_links (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  order_id uuid not null,
  token text not null,
  status text not null default 'OPEN' check (status in ('OPEN', 'COMPLETED', 'EXPIRED', 'CLOSED')),
  expires_at timestamptz(3) not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id)
);
create index payment_links_by_id on payments.payment_links (id);
create unique index payment_links_by_token on payments.payment_links (token);
create index payment_links_by_age on payments.payment_links (organization_id, created_at, id);
create index payment_links_of_order on payments.payment_links (order_id, created_at, id);
create index payment_links_by_expiry on payments.payment_links (expires_at) where status = 'OPEN';
