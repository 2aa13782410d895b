-- compatible: programs of before find the keys of each person and organization as they did; what the same key has made elsewhere they refuse to make again, with an error.
lock table identity.idempotency_keys in share row exclusive mode;
-- A key counts for its person in whichever organization: where one was used in two, the first stands.
delete from identity.idempotency_keys k using identity.idempotency_keys f
  where (f.caller, f.what, f.key) = (k.caller, k.what, k.key) and (f.at, f.tenant_id) < (k.at, k.tenant_id);
create unique index a_key_makes_one_thing on identity.idempotency_keys (caller, what, key);
create index idempotency_keys_by_age on identity.idempotency_keys (at);
