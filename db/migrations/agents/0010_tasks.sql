-- compatible: a program that does not know tasks never asks for them.
create table agents.tasks (
  id uuid primary key,
  organization_id uuid not null,
  title text not null check (length(title) between 1 and 300),
  body text,
  status text not null default 'OPEN' check (status in ('OPEN', 'IN_PROGRESS', 'DONE', 'CANCELLED')),
  assignee_id uuid,
  due_at timestamptz(3),
  -- The run whose step made it.
  run_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index tasks_by_age on agents.tasks (organization_id, created_at, id);
create index tasks_by_status on agents.tasks (organization_id, status, created_at, id);
create index tasks_of_writer on agents.tasks (created_by, created_at);
create index tasks_of_assignee on agents.tasks (organization_id, assignee_id) where assignee_id is not null;
create index tasks_to_do on agents.tasks (organization_id, due_at, created_at) where status in ('OPEN', 'IN_PROGRESS');
