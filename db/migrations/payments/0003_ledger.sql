-- compatible: a program that does not know the ledger moves no money.
-- The ledger: every movement of money as two or more entries that sum to zero in each currency, chained by hashes merchant by merchant.
create table payments.ledger_entries (
  merchant_id uuid not null,
  sequence bigint not null check (sequence > 0),
  id uuid not null,
  organization_id uuid not null,
  movement_id uuid not null,
  account text not null check (length(account) between 1 and 130),
  -- Debits are positive, credits negative.
  amount_minor bigint not null check (amount_minor <> 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  kind text not null,
  order_id uuid,
  settlement_batch_id uuid,
  posted_at timestamptz(3) not null,
  previous_hash text not null check (previous_hash ~ '^[0-9a-f]{64}$'),
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  primary key (merchant_id, sequence)
);
create index ledger_entries_by_id on payments.ledger_entries (id);
create index ledger_entries_of_movement on payments.ledger_entries (merchant_id, movement_id);
create index ledger_entries_of_organization on payments.ledger_entries (organization_id, sequence, id);
create index ledger_entries_of_merchant on payments.ledger_entries (merchant_id, sequence, id);
create index ledger_entries_of_order on payments.ledger_entries (order_id, sequence, id) where order_id is not null;
create index ledger_entries_of_batch on payments.ledger_entries (settlement_batch_id, sequence, id) where settlement_batch_id is not null;
create index ledger_entries_of_account on payments.ledger_entries (organization_id, account, sequence, id);

-- The last entry of each merchant's chain: whoever posts next waits for it.
create table payments.ledger_chains (
  merchant_id uuid primary key,
  organization_id uuid not null,
  sequence bigint not null,
  hash text not null
);

-- What the entries of an account come to, kept in the transaction that posts them.
create table payments.ledger_accounts (
  merchant_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  currency text not null,
  balance_minor bigint not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (merchant_id, id),
  constraint one_account_a_currency unique (merchant_id, code, currency)
);
create index ledger_accounts_by_id on payments.ledger_accounts (id);
create index ledger_accounts_by_age on payments.ledger_accounts (organization_id, created_at, id);
create index ledger_accounts_of_merchant on payments.ledger_accounts (merchant_id, created_at, id);

-- Checked when the transaction commits, for the entries of a movement may come one after another.
create function payments.require_balance() returns trigger language plpgsql as $$
declare
  currency text;
begin
  select e.currency into currency from payments.ledger_entries e
   where e.merchant_id = new.merchant_id and e.movement_id = new.movement_id
   group by e.currency having sum(e.amount_minor) <> 0 limit 1;
  if found then
    raise check_violation using
      message = format('movement %s does not balance in %s', new.movement_id, currency),
      constraint = 'a_movement_balances', schema = 'payments', table = 'ledger_entries';
  end if;
  return null;
end
$$;
create constraint trigger a_movement_balances after insert on payments.ledger_entries
  deferrable initially deferred for each row execute function payments.require_balance();

-- Entries are for ever. Only those of a merchant that is gone go too, in a transaction that says so by `payments.ledger_removal`.
create function payments.keep_ledger() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('payments.ledger_removal', true) = 'on' then
    if not exists (select from payments.merchants where id = old.merchant_id) then return old; end if;
    raise foreign_key_violation using message = 'entries of the ledger stay as long as their merchant';
  end if;
  raise insufficient_privilege using message = 'entries of the ledger are neither changed nor removed';
end
$$;
create trigger keep_ledger before update or delete on payments.ledger_entries for each row execute function payments.keep_ledger();
create trigger keep_whole_ledger before truncate on payments.ledger_entries for each statement execute function payments.keep_ledger();
