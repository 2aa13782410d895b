-- compatible: a program that does not know disputes leaves what they hold of an order as it is.
create table payments.disputes (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  order_id uuid not null,
  processor_id text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reason text not null,
  status text not null check (status in ('OPEN', 'UNDER_REVIEW', 'WON', 'LOST')),
  evidence_due_by timestamptz(3),
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint what_is_decided_has_an_end check ((closed_at is not null) = (status in ('WON', 'LOST')))
);
create index disputes_by_id on payments.disputes (id);
create unique index a_dispute_is_kept_once on payments.disputes (processor_id);
create index disputes_by_age on payments.disputes (organization_id, created_at, id);
create index disputes_by_status on payments.disputes (organization_id, status, created_at, id);
create index disputes_of_order on payments.disputes (order_id, created_at, id);
create index disputes_that_are_open on payments.disputes (organization_id, evidence_due_by) where status in ('OPEN', 'UNDER_REVIEW');
