-- compatible: a program that does not know venues and settings never asks for them.
create table payments.venues (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  name text not null check (name <> ''),
  address jsonb,
  time_zone text not null default 'UTC',
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'ARCHIVED')),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id)
);
create index venues_by_id on payments.venues (id);
create index venues_by_age on payments.venues (organization_id, created_at, id);
create index venues_by_status on payments.venues (organization_id, status, created_at, id);
create index venues_of_merchant on payments.venues (merchant_id, created_at, id);

-- One row an organization, whose id it has.
create table payments.settings (
  id uuid primary key,
  default_currency text not null default 'EUR' check (default_currency ~ '^[A-Z]{3}$'),
  capture_mode text not null default 'AUTOMATIC' check (capture_mode in ('AUTOMATIC', 'MANUAL')),
  checkout_minutes integer not null default 60 check (checkout_minutes between 30 and 1440),
  invoice_due_days integer not null default 14 check (invoice_due_days between 0 and 365),
  -- Amounts in minor units, as digits.
  refund_approval_thresholds jsonb not null default '[]',
  reminder_days jsonb not null default '[3, 7, 14]',
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
