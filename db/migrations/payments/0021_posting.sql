-- compatible: a program of before posts by statements of its own, whose movements are whole, and the same triggers check them.
-- Posting in one statement: whoever posts next for the merchant waits no longer than this and the commit take.
alter table payments.ledger_chains set (fillfactor = 50);
alter table payments.ledger_accounts set (fillfactor = 50);
alter table payments.daily_sums set (fillfactor = 50);

-- Locks the end of a merchant's chain, appends entries in the order given, and adds them to the balances of their accounts.
-- The hash of an entry is SHA-256 of the hash before it and the entry's fields, one a line; the program works it out again for each proof.
create function payments.post(
  _merchant_id uuid, _organization_id uuid, _at timestamptz, _actor text,
  _ids uuid[], _movement_ids uuid[], _accounts text[], _amounts bigint[], _currencies text[], _kinds text[], _order_ids uuid[], _batch_ids uuid[]
) returns void language plpgsql as $$
declare
  last bigint;
  head text;
  previous text[] := '{}';
  hashes text[] := '{}';
  posted text := to_char(_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
begin
  select c.sequence, c.hash into last, head from payments.ledger_chains c where c.merchant_id = _merchant_id for no key update;
  if not found then
    -- A merchant's first two postings may come at the same moment: the second waits here, then locks what the first has made.
    insert into payments.ledger_chains (merchant_id, organization_id, sequence, hash)
    values (_merchant_id, _organization_id, 0, repeat('0', 64)) on conflict (merchant_id) do nothing;
    select c.sequence, c.hash into last, head from payments.ledger_chains c where c.merchant_id = _merchant_id for no key update;
  end if;
  for n in 1 .. cardinality(_ids) loop
    previous[n] := head;
    head := encode(sha256(convert_to(
      concat_ws(E'\n', head, _merchant_id, last + n, _movement_ids[n], _accounts[n], _amounts[n], _currencies[n], posted), 'UTF8')), 'hex');
    hashes[n] := head;
    -- The chain is locked: nobody else writes balances of the merchant meanwhile. A new account has the id of its first entry.
    update payments.ledger_accounts a set balance_minor = a.balance_minor + _amounts[n], version = a.version + 1, updated_at = _at
     where a.merchant_id = _merchant_id and a.code = _accounts[n] and a.currency = _currencies[n];
    if not found then
      insert into payments.ledger_accounts (merchant_id, organization_id, created_at, updated_at, created_by, id, code, currency, balance_minor)
      values (_merchant_id, _organization_id, _at, _at, _actor, _ids[n], _accounts[n], _currencies[n], _amounts[n]);
    end if;
  end loop;
  insert into payments.ledger_entries
    (merchant_id, organization_id, posted_at, sequence, id, movement_id, account, amount_minor, currency, kind, order_id, settlement_batch_id, previous_hash, hash)
  select _merchant_id, _organization_id, _at, last + e.n, e.id, e.movement_id, e.account, e.amount, e.currency, e.kind, e.order_id, e.batch_id, e.previous, e.hash
    from unnest(_ids, _movement_ids, _accounts, _amounts, _currencies, _kinds, _order_ids, _batch_ids, previous, hashes)
      with ordinality e (id, movement_id, account, amount, currency, kind, order_id, batch_id, previous, hash, n);
  update payments.ledger_chains set sequence = last + cardinality(_ids), hash = head where merchant_id = _merchant_id;
end
$$;

-- One trigger for what every statement that appends entries is checked for and adds to, because each costs a call.
-- Movements are checked whole, by the entries of the statement: a trigger for each row read each movement again at the commit.
drop trigger a_movement_balances on payments.ledger_entries;
drop function payments.require_balance();
drop trigger add_to_daily_sums on payments.ledger_entries;
drop function payments.add_to_daily_sums();
create function payments.take_in_entries() returns trigger language plpgsql as $$
declare
  movement uuid;
  unbalanced text;
begin
  select e.movement_id, e.currency into movement, unbalanced from added e group by 1, 2 having sum(e.amount_minor) <> 0 limit 1;
  if found then
    raise check_violation using
      message = format('movement %s does not balance in %s', movement, unbalanced),
      constraint = 'a_movement_balances', schema = 'payments', table = 'ledger_entries';
  end if;
  insert into payments.daily_sums as s
    (merchant_id, day, currency, venue_id, organization_id, orders, captured_minor, refunded_minor, disputed_minor)
  select e.merchant_id, (e.posted_at at time zone 'UTC')::date as day, e.currency,
    coalesce(o.venue_id, '00000000-0000-0000-0000-000000000000') as venue_id, e.organization_id,
    count(*) filter (where e.kind = 'CAPTURE'),
    coalesce(sum(e.amount_minor) filter (where e.kind = 'CAPTURE'), 0)::bigint,
    coalesce(- sum(e.amount_minor) filter (where e.kind in ('REFUND', 'REFUND_FAILED')), 0)::bigint,
    coalesce(- sum(e.amount_minor) filter (where e.kind in ('DISPUTE_OPENED', 'DISPUTE_WON')), 0)::bigint
  from added e left join payments.orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
  where e.account = 'processor' and e.kind not in ('SETTLEMENT', 'SETTLEMENT_REVERSED')
  group by e.merchant_id, day, e.currency, coalesce(o.venue_id, '00000000-0000-0000-0000-000000000000'), e.organization_id
  on conflict (merchant_id, day, currency, venue_id) do update set
    orders = s.orders + excluded.orders,
    captured_minor = s.captured_minor + excluded.captured_minor,
    refunded_minor = s.refunded_minor + excluded.refunded_minor,
    disputed_minor = s.disputed_minor + excluded.disputed_minor;
  return null;
end
$$;
create trigger take_in_entries after insert on payments.ledger_entries
  referencing new table as added for each statement execute function payments.take_in_entries();
