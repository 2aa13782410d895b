-- compatible: a program that does not know changes of seats gives what the bundle has, and compares what it compared before.
-- Bundles that are to have fewer seats, while the processor is asked: until then no more than these are given.
create table launcher.seat_changes (
  organization_id uuid not null,
  id uuid not null,
  quantity integer not null,
  -- A change that nobody ended, because a process died, counts until then.
  until timestamptz(3) not null,
  primary key (organization_id, id)
);

-- When the processor was last asked for it; the epoch for never. Bundles of organizations are compared with their seats.
alter table launcher.billing_subscriptions add column reconciled_at timestamptz(3) not null default 'epoch';
alter table launcher.workspace_verifications add column reconciled_at timestamptz(3) not null default 'epoch';
create index billing_subscriptions_to_reconcile on launcher.billing_subscriptions (reconciled_at)
  where status not in ('CANCELED', 'INCOMPLETE') and owner_type <> 'ORGANIZATION';
create index workspace_verifications_to_reconcile on launcher.workspace_verifications (reconciled_at)
  where status not in ('CANCELED', 'INCOMPLETE');
