-- compatible: a program that does not know hooks leaves them alone, and nothing is sent to them through it.
-- Addresses that begin runs of a workflow; each has the id of its workflow.
create table agents.workflow_hooks (
  id uuid primary key,
  organization_id uuid not null,
  -- The code in the address: as a hash, by which it is found, and sealed, for whoever may read it again.
  code_hash text not null,
  code text not null,
  signed boolean not null default false,
  -- What calls are signed with, sealed.
  secret text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create unique index workflow_hooks_by_code on agents.workflow_hooks (code_hash);
create index workflow_hooks_by_code_key on agents.workflow_hooks (split_part(code, '.', 2));
create index workflow_hooks_by_secret_key on agents.workflow_hooks (split_part(secret, '.', 2));

-- Calls that name themselves: repeated within a day, they lead to the same run.
create table agents.hook_calls (
  workflow_id uuid not null,
  key text not null,
  run_id uuid not null,
  at timestamptz(3) not null,
  primary key (workflow_id, key)
);
create index hook_calls_by_age on agents.hook_calls (at);

-- Runs that a schedule has begun and that still wait for their turn.
create index runs_scheduled_in_queue on agents.runs (workflow_id) where trigger = 'SCHEDULE' and status = 'QUEUED';
