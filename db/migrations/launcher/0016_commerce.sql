-- compatible: a program that does not know subscriptions neither writes nor shows them.
-- The organization that looks after the platform: it needs no bundle.
create table launcher.platform (
  one boolean primary key default true check (one),
  organization_id uuid not null
);

-- Prices at the payment processor, each made once.
create table launcher.billing_prices (
  package text not null,
  interval text not null,
  unit_minor bigint not null check (unit_minor > 0),
  currency text not null,
  processor_price_id text not null,
  created_at timestamptz(3) not null,
  primary key (package, interval, unit_minor, currency)
);

-- Pages of the processor on which somebody subscribes.
create table launcher.billing_checkouts (
  id uuid primary key,
  owner_type text not null check (owner_type in ('ORGANIZATION', 'USER', 'LEAD')),
  owner_id uuid not null,
  kind text not null check (kind in ('BUNDLE', 'FREE_WORKSPACE')),
  package text not null check (package in ('THREE', 'FIVE', 'TEN', 'EVERYTHING', 'FREE_WORKSPACE')),
  interval text not null check (interval in ('MONTH', 'YEAR')),
  seats integer not null check (seats between 1 and 100000),
  return_to text not null,
  status text not null default 'OPENING' check (status in ('OPENING', 'OPEN', 'COMPLETE', 'EXPIRED')),
  -- Null until the processor has made the page.
  processor_session_id text unique,
  url text,
  expires_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint an_open_checkout_has_a_page check (status = 'OPENING' or processor_session_id is not null)
);
create index billing_checkouts_of_owner on launcher.billing_checkouts (owner_type, owner_id, created_at);
create index billing_checkouts_by_age on launcher.billing_checkouts (created_at);

-- Paid bundles, each as the processor last described it.
create table launcher.billing_subscriptions (
  id uuid primary key,
  owner_type text not null check (owner_type in ('ORGANIZATION', 'USER', 'LEAD')),
  owner_id uuid not null,
  package text not null check (package in ('THREE', 'FIVE', 'TEN', 'EVERYTHING')),
  interval text not null check (interval in ('MONTH', 'YEAR')),
  status text not null check (status in ('INCOMPLETE', 'TRIALING', 'ACTIVE', 'PAST_DUE', 'UNPAID', 'PAUSED', 'CANCELED')),
  seats integer not null check (seats >= 0),
  unit_minor bigint not null check (unit_minor >= 0),
  currency text not null,
  current_period_end timestamptz(3),
  cancel_at_period_end boolean not null default false,
  past_due_since timestamptz(3),
  ended_at timestamptz(3),
  processor_subscription_id text not null unique,
  processor_customer_id text not null,
  processor_item_id text not null,
  -- Time at the processor of the event that was taken in last, to the second.
  learned_at timestamptz(3) not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_subscription_past_due_says_since_when check ((status = 'PAST_DUE') = (past_due_since is not null)),
  constraint a_canceled_subscription_has_ended check ((status = 'CANCELED') = (ended_at is not null))
);
create index billing_subscriptions_of_owner on launcher.billing_subscriptions (owner_type, owner_id, created_at desc, id desc);
create index billing_subscriptions_by_end on launcher.billing_subscriptions (ended_at) where ended_at is not null;

-- Subscriptions that verify free workspaces, apart from those that are paid for apps.
create table launcher.workspace_verifications (
  id uuid primary key,
  owner_type text not null check (owner_type in ('ORGANIZATION', 'USER', 'LEAD')),
  owner_id uuid not null,
  status text not null check (status in ('INCOMPLETE', 'TRIALING', 'ACTIVE', 'PAST_DUE', 'UNPAID', 'PAUSED', 'CANCELED')),
  unit_minor bigint not null check (unit_minor >= 0),
  currency text not null,
  current_period_end timestamptz(3),
  cancel_at_period_end boolean not null default false,
  past_due_since timestamptz(3),
  verified_at timestamptz(3),
  ended_at timestamptz(3),
  processor_subscription_id text not null unique,
  processor_customer_id text not null,
  learned_at timestamptz(3) not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_verification_past_due_says_since_when check ((status = 'PAST_DUE') = (past_due_since is not null)),
  constraint a_canceled_verification_has_ended check ((status = 'CANCELED') = (ended_at is not null))
);
create index workspace_verifications_of_owner on launcher.workspace_verifications (owner_type, owner_id, created_at desc, id desc);
create index workspace_verifications_by_end on launcher.workspace_verifications (ended_at) where ended_at is not null;

-- Events of the processor, each once, until they are applied.
create table launcher.processor_events (
  id uuid primary key,
  processor_event_id text not null unique,
  type text not null,
  object_id text not null,
  status text not null default 'RECEIVED' check (status in ('RECEIVED', 'APPLIED', 'IGNORED', 'DEAD')),
  reason text,
  attempts integer not null default 0,
  -- When it happened at the processor, to the second.
  occurred_at timestamptz(3) not null,
  -- When it is tried next; null once it is over.
  next_attempt_at timestamptz(3),
  payload jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index processor_events_due on launcher.processor_events (next_attempt_at) where next_attempt_at is not null;
create index processor_events_by_age on launcher.processor_events (created_at);
