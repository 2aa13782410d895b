-- compatible: a program that does not know held keys never holds one.
-- Keys whose work takes longer than a transaction: who holds one, and until when. A key without a holder has been worked.
alter table publishing.idempotency_keys
  add column holder uuid,
  add column held_until timestamptz(3),
  add constraint idempotency_keys_are_held_until check ((holder is null) = (held_until is null));
