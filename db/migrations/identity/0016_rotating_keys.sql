-- compatible: programs of before make keys of no service and with the usual rate, and take the newer of two secrets alone.
-- All scopes of a key belong to one service. Older keys that have scopes of several belong to none.
alter table identity.api_keys
  add column service text,
  -- Requests in any minute.
  add column rate_limit integer not null default 600 check (rate_limit between 1 and 6000),
  -- The member that it acts as, whose roles bound its scopes.
  add column service_account_id uuid,
  -- The secret before the present one, by its SHA-256, and until when it works.
  add column previous_hash text,
  add column previous_prefix text,
  add column previous_ends_at timestamptz(3),
  add column rotated_at timestamptz(3),
  add check (num_nonnulls(previous_hash, previous_prefix, previous_ends_at) in (0, 3));
update identity.api_keys k set service = split_part(k.scopes[1], ':', 1)
  where not exists (select from unnest(k.scopes) scope where split_part(scope, ':', 1) <> split_part(k.scopes[1], ':', 1));
create index api_keys_by_previous_hash on identity.api_keys (previous_hash) where previous_hash is not null;
create index api_keys_of_account on identity.api_keys (service_account_id) where service_account_id is not null;
-- What ended long ago is looked for by when it did.
create index api_keys_by_end on identity.api_keys ((coalesce(revoked_at, expires_at)));
