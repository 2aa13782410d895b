-- compatible: null for runs that begin otherwise, and a program that does not know list steps and trials begins none.
alter table agents.runs
  -- Of the list step that began it: its id, the place of the item in the list, and the attempt of the step.
  add column parent_step_id uuid,
  add column item_index bigint,
  add column parent_attempt integer,
  -- Outputs of a trial's steps that are not worked out.
  add column pinned jsonb;
create index runs_of_items on agents.runs (parent_step_id, item_index, id) where parent_step_id is not null;
create index runs_of_trials on agents.runs (organization_id, created_at, id) where trigger = 'TEST';
-- Of a list step: the attempt from which on runs of its items count.
alter table agents.run_steps add column children_from integer not null default 1;
