-- compatible: programs of before write shorter keys.
-- An idempotency key has as many characters in every subgraph.
alter table agents.idempotency_keys
  drop constraint idempotency_keys_key_check,
  add constraint idempotency_keys_key_check check (length(key) between 1 and 255);
