-- compatible: the trigger adds what a program of before posts.
-- What was taken, given back and disputed on each day of UTC, so that a report of a year reads some hundred rows and not every entry.
create table payments.daily_sums (
  merchant_id uuid not null,
  day date not null,
  currency text not null,
  -- All zeros for orders without a venue.
  venue_id uuid not null,
  organization_id uuid not null,
  -- Captures, of which an order has one.
  orders bigint not null default 0,
  captured_minor bigint not null default 0,
  refunded_minor bigint not null default 0,
  disputed_minor bigint not null default 0,
  primary key (merchant_id, day, currency, venue_id)
);
create index daily_sums_of_organization on payments.daily_sums (organization_id, day);

-- Which of an entry's amounts counts as what: of each movement of an order the one that moves the balance at the processor.
create view payments.order_sums as
  select e.organization_id, e.merchant_id, e.order_id, e.posted_at, e.currency,
    case when e.kind = 'CAPTURE' then 1 else 0 end as orders,
    case when e.kind = 'CAPTURE' then e.amount_minor else 0 end as captured_minor,
    case when e.kind in ('REFUND', 'REFUND_FAILED') then - e.amount_minor else 0 end as refunded_minor,
    case when e.kind in ('DISPUTE_OPENED', 'DISPUTE_WON') then - e.amount_minor else 0 end as disputed_minor
  from payments.ledger_entries e where e.account = 'processor' and e.kind not in ('SETTLEMENT', 'SETTLEMENT_REVERSED');
create index ledger_entries_by_time on payments.ledger_entries (organization_id, posted_at)
  where account = 'processor' and kind not in ('SETTLEMENT', 'SETTLEMENT_REVERSED');

create function payments.add_to_daily_sums() returns trigger language plpgsql as $$
begin
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
create trigger add_to_daily_sums after insert on payments.ledger_entries
  referencing new table as added for each statement execute function payments.add_to_daily_sums();

insert into payments.daily_sums (merchant_id, day, currency, venue_id, organization_id, orders, captured_minor, refunded_minor, disputed_minor)
select e.merchant_id, (e.posted_at at time zone 'UTC')::date as day, e.currency, coalesce(o.venue_id, '00000000-0000-0000-0000-000000000000') as venue,
  e.organization_id, sum(e.orders)::bigint, sum(e.captured_minor)::bigint, sum(e.refunded_minor)::bigint, sum(e.disputed_minor)::bigint
  from payments.order_sums e left join payments.orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
 group by e.merchant_id, day, e.currency, venue, e.organization_id;

-- Attempts to pay and what became of them, read from the index alone.
create index transactions_to_pay on payments.transactions (organization_id, created_at) include (status, failure_code)
  where type in ('PURCHASE', 'AUTHORIZE');
create index transactions_open on payments.transactions (organization_id) where status = 'UNKNOWN';
