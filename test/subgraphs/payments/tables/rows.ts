import pg from 'pg'

/** How many rows payments has. */
export interface Size {
  /** Merchants of the organization that is asked, and how many orders each has. */
  readonly merchants: number
  readonly ordersAMerchant: number
  /** Orders of the one merchant that is an organization of its own. */
  readonly ordersOfOne: number
  /** Merchants of others, with as many orders each. */
  readonly elsewhere: number
}

/** A million orders of a thousand merchants, and ten million entries of the ledger. */
export const million: Size = { merchants: 50, ordersAMerchant: 1_000, ordersOfOne: 50_000, elsewhere: 899 }

/** How many movements of the ledger an order has, on average: two entries each. */
const movements = 5

/** Tables that are filled. */
const tables = [
  ...['merchants', 'venues', 'customers', 'orders', 'transactions', 'refunds', 'disputes', 'invoices', 'credit_notes', 'payment_links', 'checkout_sessions'],
  ...['settlement_batches', 'settlement_lines', 'settlement_callbacks', 'webhook_events', 'webhook_endpoints', 'webhook_deliveries', 'audit_entries'],
  ...['ledger_entries', 'ledger_accounts', 'ledger_chains', 'daily_sums'],
]

const id = (text: string) => `md5(${text})::uuid`
/** Orders with a running number within their merchant: how old they are, and what became of them, follows from it. */
const orders = `(select o.*, (o.reference)::int as n from payments.orders o) o`
const stamps = `o.created_at, o.created_at, 'bench'`
const hash = `repeat('0', 64)`

/**
 * Fills the database. Orders lie within the last year; of a hundred some are open, some failed, some are disputed or given back.
 * @param now    the moment before which everything lies
 * @param owners organizations of whom the first gets the merchants, the second the one
 */
export async function fill(url: string, { now, owners, size }: { readonly now: Date; readonly owners: readonly [string, string]; readonly size: Size }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set session_replication_role = replica; set maintenance_work_mem = '256MB'; set synchronous_commit = off`)
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index i
        where indrelid = any($1::text[]::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
      [tables.map(name => `payments.${name}`)],
    )
    for (const { name } of indexes) await client.query(`drop index ${name}`)
    for (const text of [...parties(owners, size), ...paid, ...beside, ...booked])
      await client.query(text.replaceAll('$now', `'${now.toISOString()}'::timestamptz`))
    for (const { definition } of indexes) await client.query(definition)
    await client.query('set session_replication_role = origin')
    for (const name of tables) await client.query(`vacuum (analyze) payments.${name}`)
  } finally {
    await client.end()
  }
}

/** Who sells, and to whom. */
function parties([first, second]: readonly [string, string], { merchants, ordersAMerchant, ordersOfOne, elsewhere }: Size): readonly string[] {
  const merchant = (key: string, organization: string, count: number, each: number) =>
    `insert into payments.merchants (id, organization_id, name, legal_name, default_currency, invoice_prefix, created_at, updated_at, created_by)
     select ${id(`'${key}' || n`)}, ${organization}, '${key} ' || n, '${each}', 'EUR', upper('${key.slice(0, 1)}') || n, $now, $now, 'bench' from generate_series(1, ${count}) n`
  return [
    merchant('several', `'${first}'`, merchants, ordersAMerchant),
    merchant('one', `'${second}'`, 1, ordersOfOne),
    merchant('elsewhere', id(`'organization' || n % 100`), elsewhere, ordersAMerchant),
    `insert into payments.venues (merchant_id, id, organization_id, name, created_at, updated_at, created_by)
     select m.id, ${id(`m.id::text || n`)}, m.organization_id, 'Venue ' || n, $now, $now, 'bench' from payments.merchants m cross join generate_series(1, 2) n`,
    `insert into payments.customers (organization_id, id, name, email, reference, created_at, updated_at, created_by)
     select m.organization_id, ${id(`m.id::text || 'customer' || n`)}, 'Person ' || n || ' of ' || m.name, 'person' || n || '@example.com', 'C-' || n, $now, $now, 'bench'
       from payments.merchants m cross join lateral generate_series(1, greatest(m.legal_name::int / 20, 1)) n`,
    `insert into payments.orders (merchant_id, id, organization_id, number, status, currency, lines, subtotal_minor, discount_minor, tax_minor, total_minor, captured_minor,
       reference, user_id, customer_id, venue_id, metadata, payment_phase, paid_at, created_at, updated_at, created_by)
     select m.id, ${id(`m.id::text || 'order' || n`)}, m.organization_id, m.name || '-' || n, s.status, 'EUR', '[]', 1000, 0, 0, 1000,
       case when s.status in ('PAID', 'PARTIALLY_REFUNDED', 'REFUNDED') then 1000 else 0 end, n::text, ${id(`'user' || n % 7`)},
       ${id(`m.id::text || 'customer' || n % greatest(m.legal_name::int / 20, 1) + 1`)}, ${id(`m.id::text || n % 2 + 1`)},
       case when n % 50 = 0 then jsonb_build_array(jsonb_build_object('key', 'crm', 'value', n::text)) else '[]' end,
       case when n % 400 = 0 then 'UNKNOWN' else 'NONE' end, case when s.status in ('PAID', 'PARTIALLY_REFUNDED', 'REFUNDED') then at end, at, at, 'bench'
       from payments.merchants m cross join lateral generate_series(1, m.legal_name::int) n
       cross join lateral (select $now - (n::double precision / m.legal_name::int * 360) * interval '1 day' as at,
         case when n % 400 = 0 then 'PENDING' when n % 20 = 1 then 'DRAFT' when n % 20 = 2 then 'PENDING' when n % 20 = 3 then 'FAILED' when n % 20 = 4 then 'CANCELLED'
           when n % 20 = 5 then 'REFUNDED' when n % 20 = 6 then 'PARTIALLY_REFUNDED' else 'PAID' end as status) s`,
  ]
}

/** What was paid, given back and disputed. */
const paid: readonly string[] = [
  `insert into payments.transactions (merchant_id, id, organization_id, order_id, type, status, amount_minor, currency, processor_id, attempts, next_attempt_at, failure_code,
     completed_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'pay'`)}, organization_id, id, case when n % 11 = 0 then 'AUTHORIZE' else 'PURCHASE' end,
     case when payment_phase = 'UNKNOWN' then 'UNKNOWN' when status = 'FAILED' then 'FAILED' else 'SUCCEEDED' end, 1000, 'EUR', 'pi_' || id, 1,
     case when payment_phase = 'UNKNOWN' then $now + interval '1 hour' end, case when status = 'FAILED' then 'DECLINED' end, case when payment_phase <> 'UNKNOWN' then created_at end, ${stamps}
     from ${orders} where status not in ('DRAFT', 'CANCELLED') and (payment_phase = 'UNKNOWN' or status <> 'PENDING')`,
  `insert into payments.refunds (merchant_id, id, organization_id, order_id, amount_minor, currency, reason, status, origin, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'refund'`)}, organization_id, id, 100, 'EUR', 'OTHER', case when n % 2000 = 5 then 'AWAITING_APPROVAL' else 'SUCCEEDED' end, 'PLATFORM', ${stamps}
     from ${orders} where status in ('REFUNDED', 'PARTIALLY_REFUNDED')`,
  `insert into payments.transactions (merchant_id, id, organization_id, order_id, refund_id, type, status, amount_minor, currency, processor_id, attempts, completed_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 't'`)}, organization_id, order_id, id, 'REFUND', 'SUCCEEDED', 100, 'EUR', 're_' || id, 1, created_at, ${stamps}
     from payments.refunds o where status = 'SUCCEEDED'`,
  `insert into payments.disputes (merchant_id, id, organization_id, order_id, processor_id, amount_minor, currency, reason, status, evidence_due_by, opened_at, closed_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'dispute'`)}, organization_id, id, 'du_' || id, 1000, 'EUR', 'fraudulent', case when n % 1000 = 7 then 'OPEN' else 'WON' end, $now, created_at,
     case when n % 1000 = 7 then null else created_at end, ${stamps} from ${orders} where n % 100 = 7`,
]

/** What stands beside orders: invoices, links, batches, events, and the log. */
const beside: readonly string[] = [
  `insert into payments.invoices (merchant_id, id, organization_id, number, status, currency, lines, subtotal_minor, discount_minor, tax_minor, total_minor, paid_minor, customer_id, order_id,
     issued_at, due_at, paid_at, parties, next_reminder_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'invoice'`)}, organization_id, 'INV-' || n, case when captured_minor > 0 then 'PAID' else 'FINALIZED' end, 'EUR', '[]', 1000, 0, 0, 1000, captured_minor,
     customer_id, id, created_at, created_at, case when captured_minor > 0 then created_at end, '{}', case when captured_minor = 0 then $now + interval '1 day' end, ${stamps}
     from ${orders} where n % 5 = 2`,
  `insert into payments.credit_notes (merchant_id, id, organization_id, invoice_id, sequence, number, amount_minor, currency, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'note'`)}, organization_id, id, 1, number || '-C1', 10, 'EUR', ${stamps} from payments.invoices o where status = 'PAID'`,
  `insert into payments.payment_links (merchant_id, id, organization_id, order_id, token, status, expires_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'link'`)}, organization_id, id, id::text, case when n % 20 = 2 then 'OPEN' else 'COMPLETED' end, $now + interval '1 day', ${stamps} from ${orders} where n % 10 = 2`,
  `insert into payments.checkout_sessions (merchant_id, id, organization_id, order_id, status, status_before, amount_minor, currency, title, capture_mode, success_url, cancel_url, processor_id,
     expires_at, next_look_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'session'`)}, organization_id, id, case when n % 20 = 2 then 'OPEN' else 'COMPLETED' end, 'DRAFT', 1000, 'EUR', 'x', 'AUTOMATIC', 'https://x', 'https://x',
     'cs_' || id, $now, case when n % 20 = 2 then $now + interval '1 hour' end, ${stamps} from ${orders} where n % 10 = 2`,
  `insert into payments.settlement_batches (merchant_id, id, organization_id, external_batch_id, status, currency, control_total_minor, settled_total_minor, line_count, content_hash, submitted_by,
     last_sequence, completed_at, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'batch'`)}, organization_id, id::text, case when n % 1000 = 0 then 'PROCESSING' else 'SETTLED' end, 'EUR', 1000, 1000, 1, ${hash}, 'app_settlement', 3,
     created_at, ${stamps} from ${orders} where n % 50 = 0`,
  `insert into payments.settlement_lines (merchant_id, id, organization_id, batch_id, position, line_id, payer, payee, amount_minor, status, transfer_id, created_at, updated_at, created_by)
   select merchant_id, ${id(`id::text || 'line'`)}, organization_id, id, 1, '1', 'somebody', 'acct_1', 1000, 'SETTLED', 'tr_' || id, ${stamps} from payments.settlement_batches o`,
  `insert into payments.settlement_callbacks (batch_id, id, organization_id, sequence, type, body, status, created_at, updated_at, created_by)
   select id, ${id(`id::text || 'callback'`)}, organization_id, 1, 'x', '{}', 'DELIVERED', ${stamps} from payments.settlement_batches o`,
  `insert into payments.webhook_events (id, organization_id, order_id, processor_event_id, type, object_id, status, occurred_at, processed_at, payload, created_at, updated_at, created_by)
   select ${id(`id::text || 'event'`)}, organization_id, id, 'evt_' || id, case when n % 9 = 0 then 'refund.created' else 'payment_intent.succeeded' end, 'pi_' || id,
     case when n % 900 = 0 then 'DEAD' else 'PROCESSED' end, created_at, created_at, '{}', ${stamps} from ${orders} where captured_minor > 0`,
  `insert into payments.webhook_endpoints (organization_id, id, url, events, created_at, updated_at, created_by)
   select distinct organization_id, ${id(`organization_id::text || 'endpoint'`)}, 'https://x', array['order.paid'], $now, $now, 'bench' from payments.merchants`,
  `insert into payments.webhook_deliveries (organization_id, id, endpoint_id, event, entity_id, body, status, attempts, created_at, updated_at, created_by)
   select organization_id, ${id(`id::text || 'delivery'`)}, ${id(`organization_id::text || 'endpoint'`)}, 'order.paid', id, '{}', 'DELIVERED', 1, ${stamps} from ${orders} where n % 4 = 0`,
  `insert into payments.audit_entries (tenant_id, id, at, actor, action, subject_id)
   select organization_id, ${id(`id::text || 'audit' || k`)}, created_at, 'user:x', case k when 1 then 'order.created' else 'transaction.succeeded' end, id from ${orders} cross join generate_series(1, 2) k`,
]

/** The ledger: movements of two entries each, and its sums of days. */
const booked: readonly string[] = [
  `insert into payments.ledger_entries (merchant_id, sequence, id, organization_id, movement_id, account, amount_minor, currency, kind, order_id, posted_at, previous_hash, hash)
   select merchant_id, (n - 1) * ${2 * movements} + k, gen_random_uuid(), organization_id, ${id(`id::text || (k + 1) / 2`)}, case when k % 2 = 1 then 'processor' else 'merchant' end,
     case when k % 2 = 1 then 100 else -100 end, 'EUR', case when k <= 2 then 'CAPTURE' else 'REFUND_FAILED' end, id, created_at, ${hash}, ${hash}
     from ${orders} cross join generate_series(1, ${2 * movements}) k`,
  `insert into payments.ledger_accounts (merchant_id, id, organization_id, code, currency, balance_minor, created_at, updated_at, created_by)
   select m.id, gen_random_uuid(), m.organization_id, code, 'EUR', 0, $now, $now, 'bench' from payments.merchants m cross join unnest(array['processor', 'merchant', 'disputes']) code`,
  `insert into payments.ledger_chains (merchant_id, organization_id, sequence, hash) select id, organization_id, legal_name::bigint * ${2 * movements}, ${hash} from payments.merchants`,
  `insert into payments.daily_sums (merchant_id, day, currency, venue_id, organization_id, orders, captured_minor)
   select merchant_id, (created_at at time zone 'UTC')::date, 'EUR', venue_id, organization_id, count(*), sum(captured_minor) from payments.orders group by 1, 2, 4, 5`,
]
