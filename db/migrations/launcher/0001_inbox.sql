-- compatible: programs of before keep nothing of the launcher.
-- Facts of other subgraphs that were acted on, each once.
create table launcher.inbox (
  writer text not null,
  fact_id uuid not null,
  kind text not null,
  subject text not null,
  -- When it became true, by the writer's clock, and when it was received.
  told_at timestamptz(3) not null,
  at timestamptz(3) not null,
  primary key (writer, fact_id)
);
create index inbox_by_age on launcher.inbox (at);

-- Who did what.
create table launcher.audit_entries (
  tenant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  subject_id uuid not null,
  details jsonb not null default '{}',
  primary key (tenant_id, id)
);
create index audit_entries_of_subject on launcher.audit_entries (tenant_id, subject_id, at);
create index audit_entries_by_time on launcher.audit_entries (at);
