-- compatible: programs of before find the keys of each caller as they did; what another caller's key has made they refuse to make again, with an error.
lock table publishing.idempotency_keys in share row exclusive mode;
-- A key counts for everybody of an organization: where two callers have used the same one, the first stands.
delete from publishing.idempotency_keys k using publishing.idempotency_keys f
  where (f.tenant_id, f.what, f.key) = (k.tenant_id, k.what, k.key) and (f.at, f.caller) < (k.at, k.caller);
create unique index a_key_makes_one_thing on publishing.idempotency_keys (tenant_id, what, key);
create index idempotency_keys_by_age on publishing.idempotency_keys (at);
