-- compatible: a program that does not know workflows never asks for them.
create table agents.workflows (
  id uuid primary key,
  organization_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  description text check (length(description) <= 2000),
  status text not null default 'DRAFT' check (status in ('DRAFT', 'PUBLISHED', 'ARCHIVED')),
  trigger jsonb not null,
  draft jsonb not null check (octet_length(draft::text) <= 524288),
  -- The plan that new runs begin with; null before the first publication.
  published_plan_id uuid,
  -- How many plans were published.
  plans integer not null default 0,
  -- The fact that begins a run, while it is published.
  event text,
  -- When its schedule begins the next run, while it is published.
  next_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index workflows_by_age on agents.workflows (organization_id, created_at, id);
create index workflows_by_status on agents.workflows (organization_id, status, created_at, id);
create index workflows_of_writer on agents.workflows (created_by, created_at);
create index workflows_by_event on agents.workflows (organization_id, event) where event is not null;
create index workflows_by_turn on agents.workflows (next_at) where next_at is not null;

-- What runs go by: never changed, so that a run ends by the plan that it began with.
create table agents.plans (
  id uuid primary key,
  organization_id uuid not null,
  -- Null for the one step of an operator's action.
  workflow_id uuid,
  number integer not null,
  steps jsonb not null,
  created_at timestamptz(3) not null,
  created_by text not null
);
create unique index plan_numbers_once on agents.plans (workflow_id, number);

create table agents.runs (
  id uuid primary key,
  organization_id uuid not null,
  workflow_id uuid,
  plan_id uuid not null,
  status text not null default 'QUEUED'
    check (status in ('QUEUED', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_POLICY', 'WAITING_TIMER', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
  trigger text not null check (trigger in ('MANUAL', 'SCHEDULE', 'EVENT', 'WEBHOOK', 'OPERATOR', 'PARENT', 'TEST')),
  -- The place in the plan of the step that it is at.
  cursor integer not null default 0,
  input jsonb,
  output jsonb,
  failure_code text,
  failure_message text,
  failure_step_key text,
  parent_id uuid,
  -- The runs above it, the outermost first.
  lineage text[] not null default '{}',
  started_by_id uuid,
  -- When it is looked at next; null when something else has to happen first, and once it has ended.
  wake_at timestamptz(3),
  -- Who makes the call that is under way; it is believed alive until wake_at.
  claim_id uuid,
  -- Waits for runs of its own, and so takes no place among those that run.
  waits_for_child boolean not null default false,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint failure_says_why check ((failure_code is null) = (failure_message is null))
);
create index runs_by_age on agents.runs (organization_id, created_at, id);
create index runs_of_workflow on agents.runs (workflow_id, created_at, id);
create index runs_by_status on agents.runs (organization_id, status, created_at, id);
create index runs_of_parent on agents.runs (parent_id) where parent_id is not null;
create index runs_by_turn on agents.runs (wake_at) where wake_at is not null;
create index runs_under_way on agents.runs (organization_id) where status = 'RUNNING' and not waits_for_child;
create index runs_by_change on agents.runs (organization_id, updated_at);

-- Steps that have begun; those that have not stand in the plan alone.
create table agents.run_steps (
  run_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  key text not null,
  kind text not null,
  status text not null check (status in ('PENDING', 'RUNNING', 'WAITING', 'SUCCEEDED', 'FAILED', 'UNKNOWN', 'SKIPPED', 'CANCELLED')),
  phase text check (phase in ('GATE', 'CALL')),
  attempt integer not null,
  tries integer not null default 0,
  input jsonb,
  output jsonb,
  failure_code text,
  failure_message text,
  approval_id uuid,
  child_run_id uuid,
  due_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (run_id, id)
);
create index run_steps_by_id on agents.run_steps (id);

create table agents.approvals (
  id uuid primary key,
  organization_id uuid not null,
  run_id uuid not null,
  step_id uuid not null,
  kind text not null check (kind in ('ACTION', 'QUESTION')),
  title text not null,
  description text,
  risk text not null check (risk in ('LOW', 'MEDIUM', 'HIGH')),
  status text not null default 'PENDING'
    check (status in ('PENDING', 'APPROVED', 'EDITED', 'REJECTED', 'RESPONDED', 'EXPIRED', 'CANCELLED')),
  connector_id uuid,
  tool text,
  counterparty text,
  arguments jsonb,
  arguments_hash text not null check (arguments_hash ~ '^sha256:[0-9a-f]{64}$'),
  allowed text[] not null,
  response text,
  on_expiry text not null check (on_expiry in ('REJECT', 'APPROVE')),
  expires_at timestamptz(3) not null,
  escalate_at timestamptz(3),
  escalated_at timestamptz(3),
  decisions jsonb not null default '[]',
  decided_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index approvals_by_age on agents.approvals (organization_id, created_at, id);
create index approvals_by_status on agents.approvals (organization_id, status, created_at, id);
create index approvals_pending on agents.approvals (organization_id, expires_at) where status = 'PENDING';
create index approvals_by_change on agents.approvals (organization_id, updated_at);

-- Addresses by which an approval may be decided once: the code is kept as a hash.
create table agents.approval_links (
  id uuid primary key,
  approval_id uuid not null,
  code_hash text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  created_by text not null
);
create unique index approval_links_by_code on agents.approval_links (code_hash);
create index approval_links_by_age on agents.approval_links (expires_at);

create table agents.reports (
  id uuid primary key,
  organization_id uuid not null,
  workflow_id uuid,
  kind text not null default 'REPORT' check (kind in ('REPORT', 'ARTIFACT')),
  title text not null check (length(title) between 1 and 200),
  text text not null,
  run_id uuid not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index reports_by_age on agents.reports (organization_id, created_at, id);
create index reports_by_kind on agents.reports (organization_id, kind, created_at, id);
create unique index a_workflow_writes_a_title_once on agents.reports (workflow_id, title);

create table agents.report_versions (
  report_id uuid not null,
  version integer not null,
  text text not null,
  created_at timestamptz(3) not null,
  primary key (report_id, version)
);

-- What people read of the work, in order; nothing of it is ever changed.
create table agents.work_feed (
  organization_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  kind text not null,
  title text not null,
  actor text not null,
  user_id uuid,
  run_id uuid,
  approval_id uuid,
  primary key (organization_id, id)
);
create index work_feed_by_id on agents.work_feed (id);
create index work_feed_by_age on agents.work_feed (organization_id, at, id);
create index work_feed_by_kind on agents.work_feed (organization_id, kind, at, id);
