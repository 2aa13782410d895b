-- compatible: a program that does not know seats gives and releases none.
-- Seats of a bundle, each held by one member of the organization that owns it.
create table launcher.seats (
  id uuid primary key,
  organization_id uuid not null,
  user_id uuid not null,
  kind text not null check (kind in ('HUMAN', 'AGENT')),
  assigned_at timestamptz(3) not null,
  -- When a manager released it: the member gets none by joining order before another is assigned.
  released_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  unique (organization_id, user_id)
);
create index seats_of_organization on launcher.seats (organization_id, created_at desc, id desc);

-- Organizations whose seats are given: who they are, and when the processor was last compared with.
create table launcher.seat_accounts (
  organization_id uuid primary key,
  -- When seats are to be given next; null: nothing has changed.
  due_at timestamptz(3),
  -- Counts changes, so that one during a run is not missed.
  turn integer not null default 1,
  reconciled_at timestamptz(3) not null
);
create index seat_accounts_due on launcher.seat_accounts (due_at) where due_at is not null;
create index seat_accounts_by_reconciliation on launcher.seat_accounts (reconciled_at);
