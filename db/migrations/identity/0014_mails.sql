-- compatible: programs of before send no mails.
-- Mails that were sent, and those that have to be. The row is the truth: wake-ups carry its id alone.
create table identity.mails (
  id uuid primary key,
  kind text not null,
  recipient text not null,
  -- Names for its text, never a secret.
  data jsonb not null default '{}',
  -- The one-time code of its link, encrypted, until the mail was sent or given up.
  code text,
  code_hash text,
  code_ends_at timestamptz(3),
  message_id text not null,
  -- How often it was tried in vain, and when it is to be tried next; null: never again.
  failures integer not null default 0,
  due_at timestamptz(3),
  -- Which try has it at this moment.
  claim uuid,
  outcome text check (outcome in ('sent', 'given_up', 'outdated')),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  check ((due_at is null) = (outcome is not null) and (due_at is null) = (ended_at is not null)),
  check (code is null or outcome is null)
);
create index mails_to on identity.mails (recipient, kind, created_at);
create index mails_due on identity.mails (due_at) where due_at is not null;
create index mails_by_end on identity.mails (ended_at) where ended_at is not null;
