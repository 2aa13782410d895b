-- compatible: a program finds the same runs without them. The first replaces the index of trials, which are one of the triggers.
drop index agents.runs_of_trials;
create index runs_by_trigger on agents.runs (organization_id, trigger, created_at, id);
create index runs_of_workflow_by_status on agents.runs (workflow_id, status, created_at, id) where workflow_id is not null;
