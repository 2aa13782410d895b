-- What the settlement and policy service is asked about actions that cross organizations. A former program does not know
-- steps that wait for it.
alter table agents.run_steps
  drop constraint run_steps_phase_check,
  add constraint run_steps_phase_check check (phase in ('GATE', 'POLICY', 'CALL')),
  add column policy_id uuid;

create table agents.policy_requests (
  id uuid primary key,
  organization_id uuid not null,
  run_id uuid not null,
  step_id uuid not null,
  counterparty text not null check (length(counterparty) between 1 and 200),
  connector_id uuid not null,
  tool text not null,
  arguments jsonb,
  action_hash text not null check (action_hash ~ '^sha256:[0-9a-f]{64}$'),
  purpose text,
  decision text not null default 'PENDING' check (decision in ('PENDING', 'HOLD', 'ALLOW', 'DENY', 'EXPIRED', 'MISMATCH')),
  -- The hash that the service decided on.
  decided_hash text,
  reason text,
  policy_version text,
  decided_at timestamptz(3),
  expires_at timestamptz(3) not null,
  -- When the service took the request; null before that.
  accepted_at timestamptz(3),
  -- How often it was tried to hand the request over.
  tries integer not null default 0,
  -- When the service is called next; null once that is of no use any more.
  next_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index policy_requests_by_turn on agents.policy_requests (next_at) where next_at is not null;
