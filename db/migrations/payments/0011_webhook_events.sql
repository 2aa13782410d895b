-- compatible: a program that does not know events of the processor takes none.
create table payments.webhook_events (
  id uuid primary key,
  -- Whose object it is about; null before that is known, and for an object of nobody here while nobody looks after the platform.
  organization_id uuid,
  order_id uuid,
  processor_event_id text not null,
  type text not null,
  -- The object that it is about, as the processor calls it.
  object_id text not null,
  status text not null default 'RECEIVED' check (status in ('RECEIVED', 'PROCESSED', 'IGNORED', 'FAILED', 'DEAD')),
  reason text check (reason in ('NOT_OURS', 'UNHANDLED_TYPE', 'STALE', 'MODE')),
  attempts integer not null default 0 check (attempts >= 0),
  occurred_at timestamptz(3) not null,
  processed_at timestamptz(3),
  next_attempt_at timestamptz(3),
  payload jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint only_ignored_events_have_a_reason check ((reason is not null) = (status = 'IGNORED')),
  constraint what_is_not_over_has_a_next_try check ((next_attempt_at is not null) = (status in ('RECEIVED', 'FAILED')))
);
create unique index an_event_is_taken_once on payments.webhook_events (processor_event_id);
create index webhook_events_by_age on payments.webhook_events (organization_id, created_at, id);
create index webhook_events_by_status on payments.webhook_events (organization_id, status, created_at, id);
create index webhook_events_by_type on payments.webhook_events (organization_id, type, created_at, id);
create index webhook_events_due on payments.webhook_events (next_attempt_at) where next_attempt_at is not null;
create index webhook_events_of_object on payments.webhook_events (object_id, occurred_at) where status = 'PROCESSED';
create index webhook_events_of_nobody on payments.webhook_events (created_at) where organization_id is null;
create index webhook_events_old on payments.webhook_events (created_at);

-- The organization that looks after the platform, which sees events of nobody else. One row at most.
create table payments.platform (
  one boolean primary key default true check (one),
  organization_id uuid not null
);
