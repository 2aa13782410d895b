-- compatible: null for agents whose limit was not reached.
alter table agents.agents add column budget_alert_at timestamptz(3);
create index agents_by_alert on agents.agents (budget_alert_at) where budget_alert_at is not null;
