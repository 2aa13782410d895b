-- compatible: a program that does not know agents never asks for them.
create table agents.agents (
  id uuid primary key,
  organization_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  description text check (length(description) <= 2000),
  instructions text not null check (length(instructions) <= 20000),
  -- A name of providers' catalogue, `default` for the organization's preference; null: it never asks a model.
  model text check (length(model) between 1 and 200),
  knowledge_source_ids text[] not null default '{}',
  tools jsonb not null default '[]' check (octet_length(tools::text) <= 65536),
  person_profile_id uuid,
  monthly_limit_micros bigint check (monthly_limit_micros >= 0),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'PAUSED', 'ARCHIVED')),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index agents_by_age on agents.agents (organization_id, created_at, id);
create index agents_by_status on agents.agents (organization_id, status, created_at, id);
create index agents_of_writer on agents.agents (created_by, created_at);
create index agents_of_profile on agents.agents (person_profile_id) where person_profile_id is not null;

-- Who changed an agent, and when.
create table agents.agent_versions (
  agent_id uuid not null,
  version integer not null,
  at timestamptz(3) not null,
  user_id uuid,
  primary key (agent_id, version)
);

-- What models cost, a row a call, as providers count it. Rows of runs name the runs above theirs too.
create table agents.model_calls (
  id uuid primary key,
  organization_id uuid not null,
  agent_id uuid not null,
  -- Of providers' log.
  call_id uuid not null,
  -- The run and those above it; empty for conversations and the public chat.
  run_ids text[] not null default '{}',
  cost_micros bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  at timestamptz(3) not null
);
create unique index model_calls_once on agents.model_calls (call_id);
create index model_calls_of_agent on agents.model_calls (agent_id, at) include (cost_micros);
create index model_calls_of_run on agents.model_calls using gin (run_ids);
create index model_calls_by_age on agents.model_calls (at);

-- The providers' call that a step made last; null for steps that call no model.
alter table agents.run_steps add column call_id uuid;
