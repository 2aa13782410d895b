-- compatible: a program that does not know the facts of the launcher writes none.
-- Facts for other subgraphs: a row for each receiver, written with what made it true (platform/facts.ts).
create table launcher.facts (
  receiver text not null,
  -- Facts of one subject have their numbers in the order in which they became true.
  seq bigint generated always as identity,
  id uuid not null,
  kind text not null,
  subject text not null check (length(subject) between 1 and 300),
  body jsonb not null check (octet_length(body::text) <= 65536),
  at timestamptz(3) not null,
  -- When it is told next; null once it is delivered, and while it is refused.
  next_at timestamptz(3),
  attempts integer not null default 0,
  -- What the receiver said last.
  failure text check (length(failure) <= 500),
  delivered_at timestamptz(3),
  primary key (receiver, seq)
);
create index facts_on_their_way on launcher.facts (receiver, subject, seq) where delivered_at is null;
create index facts_by_turn on launcher.facts (next_at) where next_at is not null;
create index facts_by_age on launcher.facts (delivered_at) where delivered_at is not null;
