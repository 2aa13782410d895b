-- compatible: a program that does not know transactions makes none, and an order without money has the values below.
alter table payments.orders
  -- How far the processor has got with it; only an order without captured money is anything but NONE.
  add column payment_phase text not null default 'NONE' check (payment_phase in ('NONE', 'PROCESSING', 'AUTHORIZED', 'UNKNOWN')),
  add column authorized_minor bigint not null default 0 check (authorized_minor >= 0),
  add column captured_minor bigint not null default 0 check (captured_minor >= 0),
  add column refunded_minor bigint not null default 0 check (refunded_minor >= 0),
  -- Refunds that wait, or are under way: their amount is held.
  add column returning_minor bigint not null default 0 check (returning_minor >= 0),
  -- Disputes that are open or lost.
  add column disputed_minor bigint not null default 0 check (disputed_minor >= 0),
  -- The payment at the processor that holds or took the money.
  add column processor_payment_id text,
  add column authorized_at timestamptz(3),
  add column paid_at timestamptz(3),
  add column failure_code text,
  add column failure_message text,
  add constraint no_more_is_taken_than_is_owed check (captured_minor <= total_minor and authorized_minor <= total_minor),
  add constraint no_more_goes_back_than_came check (refunded_minor + returning_minor <= captured_minor);
create index orders_paid on payments.orders (organization_id, paid_at) where paid_at is not null;
create index orders_authorized on payments.orders (authorized_at) where authorized_at is not null;

create table payments.transactions (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  order_id uuid,
  settlement_batch_id uuid,
  refund_id uuid,
  type text not null
    check (type in ('AUTHORIZE', 'CAPTURE', 'PURCHASE', 'VOID', 'REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL', 'TRANSFER', 'TRANSFER_REVERSAL')),
  status text not null default 'PENDING' check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'UNKNOWN')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  processor_id text,
  payment_method text,
  status_before text,
  cancels_order boolean not null default false,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  failure_code text,
  failure_message text,
  completed_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint what_is_over_is_not_asked_again check (status in ('PENDING', 'UNKNOWN') or next_attempt_at is null and payment_method is null)
);
create index transactions_by_id on payments.transactions (id);
create index transactions_by_age on payments.transactions (organization_id, created_at, id);
create index transactions_by_status on payments.transactions (organization_id, status, created_at, id);
create index transactions_by_type on payments.transactions (organization_id, type, created_at, id);
create index transactions_of_order on payments.transactions (order_id, created_at, id) where order_id is not null;
create index transactions_of_refund on payments.transactions (refund_id) where refund_id is not null;
create index transactions_at_processor on payments.transactions (processor_id) where processor_id is not null;
create index transactions_by_turn on payments.transactions (next_attempt_at) where next_attempt_at is not null;
-- Whatever the program does: no order is charged twice at a time.
create unique index one_payment_at_a_time on payments.transactions (order_id)
  where status in ('PENDING', 'UNKNOWN') and type in ('AUTHORIZE', 'CAPTURE', 'PURCHASE', 'VOID');

create table payments.refunds (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  order_id uuid not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reason text not null check (reason in ('DUPLICATE', 'FRAUDULENT', 'REQUESTED_BY_CUSTOMER', 'OTHER')),
  note text,
  status text not null check (status in ('AWAITING_APPROVAL', 'PENDING', 'UNKNOWN', 'SUCCEEDED', 'FAILED', 'REJECTED')),
  origin text not null check (origin in ('PLATFORM', 'PROCESSOR', 'AUTOMATIC')),
  requested_by uuid,
  requested_key_id uuid,
  decided_by uuid,
  decided_at timestamptz(3),
  failure_code text,
  failure_message text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint nobody_approves_their_own check (status = 'REJECTED' or decided_by <> requested_by)
);
create index refunds_by_id on payments.refunds (id);
create index refunds_by_age on payments.refunds (organization_id, created_at, id);
create index refunds_by_status on payments.refunds (organization_id, status, created_at, id);
create index refunds_of_order on payments.refunds (order_id, created_at, id);
create index orders_by_change on payments.orders (organization_id, updated_at);
