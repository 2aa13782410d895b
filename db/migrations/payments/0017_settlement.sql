-- compatible: a program that does not know settlement makes no batch, and asks nothing of transfers.
create table payments.settlement_batches (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  external_batch_id text not null,
  status text not null default 'RECEIVED'
    check (status in ('RECEIVED', 'PROCESSING', 'SETTLED', 'PARTIALLY_SETTLED', 'FAILED', 'REVERSING', 'REVERSED', 'PARTIALLY_REVERSED')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  control_total_minor bigint not null check (control_total_minor > 0),
  settled_total_minor bigint not null default 0,
  reversed_total_minor bigint not null default 0,
  line_count integer not null check (line_count between 1 and 1000),
  content_hash text not null check (content_hash ~ '^[0-9a-f]{64}$'),
  policy_decision_id text,
  submitted_by text not null,
  -- How many callbacks were written.
  last_sequence integer not null default 0,
  -- When somebody is to work on it next; while one does, when that counts as interrupted.
  next_work_at timestamptz(3),
  completed_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint no_more_is_settled_than_was_submitted check (settled_total_minor <= control_total_minor and reversed_total_minor <= settled_total_minor)
);
create index settlement_batches_by_id on payments.settlement_batches (id);
create unique index one_batch_a_name on payments.settlement_batches (organization_id, external_batch_id);
create index settlement_batches_by_age on payments.settlement_batches (organization_id, created_at, id);
create index settlement_batches_by_status on payments.settlement_batches (organization_id, status, created_at, id);
create index settlement_batches_of_content on payments.settlement_batches (organization_id, content_hash, created_at);
create index settlement_batches_by_turn on payments.settlement_batches (next_work_at) where next_work_at is not null;

create table payments.settlement_lines (
  merchant_id uuid not null,
  -- Also the id of its transfer, which is the key of that call to the processor.
  id uuid not null,
  organization_id uuid not null,
  batch_id uuid not null,
  position integer not null,
  line_id text not null,
  payer text not null check (length(payer) between 1 and 120),
  payee text not null,
  amount_minor bigint not null check (amount_minor > 0),
  reference text,
  status text not null default 'PENDING' check (status in ('PENDING', 'SETTLED', 'FAILED', 'UNKNOWN', 'REVERSED')),
  -- What the processor calls the transfer: `tr_…`.
  transfer_id text,
  -- The transaction that takes it back, once that was asked for.
  reversal_id uuid,
  failure_code text,
  failure_message text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint a_line_stands_once unique (batch_id, line_id)
);
create index settlement_lines_by_id on payments.settlement_lines (id);
create index settlement_lines_of_batch on payments.settlement_lines (batch_id, created_at, id);
create index settlement_lines_by_reversal on payments.settlement_lines (reversal_id) where reversal_id is not null;

create table payments.settlement_callbacks (
  batch_id uuid not null,
  -- Also the id under which it is sent.
  id uuid not null,
  organization_id uuid not null,
  sequence integer not null,
  type text not null,
  -- As it is sent each time.
  body text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'DEAD')),
  attempts integer not null default 0,
  attempt_log jsonb not null default '[]',
  next_attempt_at timestamptz(3),
  delivered_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (batch_id, id),
  constraint one_callback_a_sequence unique (batch_id, sequence)
);
create index settlement_callbacks_by_id on payments.settlement_callbacks (id);
create index settlement_callbacks_undelivered on payments.settlement_callbacks (organization_id) where status <> 'DELIVERED';
create index settlement_callbacks_by_turn on payments.settlement_callbacks (next_attempt_at) where status = 'PENDING';

create index transactions_of_batch on payments.transactions (settlement_batch_id, next_attempt_at) where settlement_batch_id is not null;
