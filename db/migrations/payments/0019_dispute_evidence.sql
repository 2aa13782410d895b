-- compatible: a program that does not know evidence gives none, and leaves what was given as it is.
alter table payments.disputes
  -- What was given, by whom and when; null before.
  add column evidence_text text check (length(evidence_text) <= 20000),
  add column evidence_files jsonb not null default '[]',
  add column evidence_by uuid,
  add column evidence_at timestamptz(3),
  -- What the processor is being asked for, and when it is asked again; null: nothing.
  add column asks text check (asks in ('SUBMIT', 'ACCEPT')),
  add column ask_attempts integer not null default 0,
  add column next_ask_at timestamptz(3);
create index disputes_by_turn on payments.disputes (next_ask_at) where next_ask_at is not null;

-- Files at the processor that evidence may name.
create table payments.dispute_files (
  dispute_id uuid not null,
  -- Also the key of its call to the processor.
  id uuid not null,
  organization_id uuid not null,
  -- What the processor calls it: `file_…`.
  processor_id text not null,
  name text not null check (length(name) between 1 and 200),
  content_type text not null check (content_type in ('application/pdf', 'image/png', 'image/jpeg')),
  bytes integer not null check (bytes > 0),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (dispute_id, id)
);
create index dispute_files_by_id on payments.dispute_files (id);
create index dispute_files_of_dispute on payments.dispute_files (dispute_id, created_at, id);
