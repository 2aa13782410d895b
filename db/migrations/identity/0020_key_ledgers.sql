-- compatible: routers of before let keys do what they did.
-- How often keys were used within the last minute, where several routers count together. What is lost in a crash begins anew.
create unlogged table identity.key_ledgers (
  key_id uuid primary key,
  -- { "taken": [[slot, uses]], "lent": [[router, uses, at]] }
  ledger jsonb not null check (octet_length(ledger::text) <= 65536),
  at timestamptz(3) not null
);
create index key_ledgers_by_age on identity.key_ledgers (at);
