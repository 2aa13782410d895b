-- compatible: a program that does not know mails of invoices sends none; those of invoices that it finalizes stay unsent.
alter table payments.invoices
  -- When its customer is reminded, as the settings said when it was finalized: moments in ascending order.
  add column reminders jsonb not null default '[]',
  add column next_reminder_at timestamptz(3);
create index invoices_to_remind on payments.invoices (next_reminder_at) where next_reminder_at is not null;

create table payments.invoice_mails (
  organization_id uuid not null,
  id uuid not null,
  invoice_id uuid not null,
  kind text not null check (kind in ('INVOICE', 'REMINDER', 'RECEIPT')),
  -- Counts the mails of one kind: with invoice and kind it is the key under which providers send it once.
  n integer not null check (n > 0),
  is_resent boolean not null default false,
  status text not null default 'QUEUED' check (status in ('QUEUED', 'SENT', 'FAILED', 'UNKNOWN')),
  -- What providers call it; null until they have taken it.
  message_id uuid,
  attempts integer not null default 0,
  -- When it is handed over, or asked about, next; null once its outcome is known.
  next_attempt_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id)
);
create index invoice_mails_by_id on payments.invoice_mails (id);
create unique index invoice_mails_once on payments.invoice_mails (invoice_id, kind, n);
create index invoice_mails_of_invoice on payments.invoice_mails (invoice_id, created_at, id);
create index invoice_mails_by_turn on payments.invoice_mails (next_attempt_at) where next_attempt_at is not null;
create unique index invoice_mails_by_message on payments.invoice_mails (message_id) where message_id is not null;
