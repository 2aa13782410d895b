-- compatible: a program that does not know the marketing site's forms takes none.
-- What visitors of the marketing site ask for.
create table launcher.leads (
  id uuid primary key,
  kind text not null check (kind in ('WAITLIST', 'DEMO', 'CONTACT', 'FEEDBACK', 'CHECKOUT')),
  status text not null default 'NEW' check (status in ('NEW', 'OPEN', 'DONE', 'SPAM')),
  name text,
  email text not null check (length(email) between 3 and 254),
  company text,
  seats integer check (seats > 0),
  purpose text,
  product text,
  topic text,
  page text,
  message text check (length(message) <= 4000),
  starts_at timestamptz(3),
  -- Whether its demo holds the slot, and the hash of the code that cancels it.
  is_booked boolean not null default false,
  code_hash text,
  note text check (length(note) <= 4000),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  check (not is_booked or kind = 'DEMO' and starts_at is not null)
);
create index leads_by_age on launcher.leads (created_at, id);
create index leads_by_kind on launcher.leads (kind, created_at, id);
create index leads_by_status on launcher.leads (status, created_at, id);
create unique index leads_once_waiting on launcher.leads (email, coalesce(product, '')) where kind = 'WAITLIST';
create unique index leads_once_a_slot on launcher.leads (starts_at) where is_booked;
create unique index leads_by_code on launcher.leads (code_hash) where code_hash is not null;

-- How often addresses and mail addresses have called, over all processes: a crash of the database forgets one window.
create unlogged table launcher.rates (
  key text primary key,
  count integer not null,
  ends_at timestamptz(3) not null
);
create index rates_by_age on launcher.rates (ends_at);

-- Mails to hand over to providers, and those that were, so that none is queued twice.
create table launcher.mails (
  id uuid primary key,
  -- What the mail is about: a second one with this key is not queued.
  key text not null unique check (length(key) between 1 and 200),
  kind text not null,
  -- On whose account it is sent; null for the platform's.
  organization_id uuid,
  -- Receiver, subject and text, encrypted; null once it was handed over or given up.
  sealed text,
  attempts integer not null default 0,
  -- When it is handed over next; null once it was, or was given up.
  next_attempt_at timestamptz(3),
  -- Its id at providers.
  message_id uuid,
  created_at timestamptz(3) not null
);
create index mails_by_turn on launcher.mails (next_attempt_at) where next_attempt_at is not null;
create index mails_by_age on launcher.mails (created_at);

-- Decisions about cookies, by the random id of a browser: every one of them, and which the consent service has.
create table launcher.consent_decisions (
  id uuid primary key,
  subject_id uuid not null,
  decision text not null check (decision in ('ACCEPT', 'DECLINE', 'CUSTOM')),
  analytics boolean not null,
  personalization boolean not null,
  advertising boolean not null,
  policy_version text not null check (length(policy_version) between 1 and 80),
  decided_at timestamptz(3) not null,
  -- LOCAL: stored here alone. PENDING: to be sent to the consent service. SYNCED: it has it.
  sync_state text not null check (sync_state in ('LOCAL', 'PENDING', 'SYNCED')),
  created_at timestamptz(3) not null,
  unique (subject_id, decided_at)
);
create index consent_decisions_by_age on launcher.consent_decisions (created_at);

-- When decisions of a browser are sent next: one process at a time, so that they arrive in their order.
create table launcher.consent_subjects (
  subject_id uuid primary key,
  -- Failures in a row, and when the first of them was.
  attempts integer not null default 0,
  failing_since timestamptz(3),
  -- Null when there is nothing to send.
  next_attempt_at timestamptz(3),
  -- Until when a process has it to itself.
  held_until timestamptz(3),
  decided_at timestamptz(3) not null
);
create index consent_subjects_by_turn on launcher.consent_subjects (next_attempt_at) where next_attempt_at is not null;
create index consent_subjects_by_age on launcher.consent_subjects (decided_at);
