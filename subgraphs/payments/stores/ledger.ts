import type { Transaction } from 'sequelize'
import { rows as readRows, statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid, whole } from '../../../platform/sql/table.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'

/** What a movement records. */
export type MovementKind = 'CAPTURE' | 'REFUND' | 'REFUND_FAILED' | 'DISPUTE_OPENED' | 'DISPUTE_WON' | 'DISPUTE_LOST' | 'SETTLEMENT' | 'SETTLEMENT_REVERSED'

export const ledgerEntries = table('payments.ledger_entries', {
  merchantId: uuid.key,
  /** 1, 2, 3 … within the merchant's chain. */
  sequence: whole.key,
  id: uuid,
  organizationId: uuid,
  movementId: uuid,
  /** `processor`, `merchant`, `disputes` or `payer:<payer>`. */
  account: text,
  /** In minor units of the currency: positive for a debit, negative for a credit. */
  amountMinor: whole,
  currency: text,
  kind: text.of<MovementKind>(),
  orderId: uuid.maybe,
  settlementBatchId: uuid.maybe,
  postedAt: moment,
  previousHash: text,
  hash: text,
})

export type LedgerEntryRow = Row<typeof ledgerEntries>

export const ledgerAccounts = table('payments.ledger_accounts', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  code: text,
  currency: text,
  /** The sum of the account's entries, in minor units. */
  balanceMinor: whole,
  ...stamps,
})

export type LedgerAccountRow = Row<typeof ledgerAccounts>

/** The last entry of a merchant's chain. */
export interface ChainHead {
  readonly sequence: bigint
  readonly hash: string
}

/** What new entries add to one account. */
export interface AccountChange {
  /** The account's id if it is new. */
  readonly id: string
  readonly code: string
  readonly currency: string
  readonly amountMinor: bigint
}

/** A merchant's chain and accounts as they stood at one moment. */
export interface LedgerSnapshot {
  readonly head: ChainHead
  readonly accounts: readonly { readonly code: string; readonly currency: string; readonly balanceMinor: string }[]
}

const lockHead = statement('select sequence, hash from payments.ledger_chains where merchant_id = $1 for no key update')
// A merchant's first two postings may come at the same moment: the second waits here, then locks what the first has made.
const makeHead = statement(
  `insert into payments.ledger_chains (merchant_id, organization_id, sequence, hash) values ($1, $2, 0, $3) on conflict (merchant_id) do nothing`,
)
const append = statement(
  `with entries as (
     insert into payments.ledger_entries
       (merchant_id, organization_id, posted_at, sequence, id, movement_id, account, amount_minor, currency, kind, order_id, settlement_batch_id, previous_hash, hash)
     select $1, $2, $3, e.* from unnest($4::bigint[], $5::uuid[], $6::uuid[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::uuid[], $12::uuid[],
       $13::text[], $14::text[]) e
   ), head as (
     update payments.ledger_chains set sequence = $15, hash = $16 where merchant_id = $1
   )
   insert into payments.ledger_accounts as a (merchant_id, organization_id, created_at, updated_at, created_by, id, code, currency, balance_minor)
   select $1, $2, $3, $3, $17, c.* from unnest($18::uuid[], $19::text[], $20::text[], $21::bigint[]) c
   on conflict (merchant_id, code, currency) do update
     set balance_minor = a.balance_minor + excluded.balance_minor, version = a.version + 1, updated_at = excluded.updated_at`,
)
// One statement sees one moment: the balances are those of exactly the entries up to the head.
const snapshot = statement(
  `select c.sequence, c.hash,
     (select coalesce(json_agg(json_build_object('code', a.code, 'currency', a.currency, 'balanceMinor', a.balance_minor::text) order by a.code, a.currency), '[]')
        from payments.ledger_accounts a where a.merchant_id = c.merchant_id) as accounts
     from payments.ledger_chains c where c.merchant_id = $1`,
)
const chainPart = statement(
  `select ${selectList(ledgerEntries, 't')} from payments.ledger_entries t where t.merchant_id = $1 and t.sequence > $2 and t.sequence <= $3
    order by t.sequence limit $4`,
)
const allChains = statement('select merchant_id as id from payments.ledger_chains union select distinct merchant_id from payments.ledger_entries order by 1')

/** How many entries are read at once for a proof: bounded in memory, however long the chain is. */
const partSize = 1_000

/** Returns the statements that only the ledger has. */
function ledgerSql(rows: Rows<typeof ledgerEntries>, { sequelize }: StoreContext) {
  return {
    /** Locks a merchant's chain until the transaction ends, and returns its head. @param genesis the hash before the first entry */
    async lockHead(merchantId: string, organizationId: string, genesis: string, transaction: Transaction): Promise<ChainHead> {
      const [head] = await rows.read<ChainHead>(lockHead, [merchantId], transaction)
      if (head) return head
      await rows.read(makeHead, [merchantId, organizationId, genesis], transaction)
      const [made] = await rows.read<ChainHead>(lockHead, [merchantId], transaction)
      return made!
    },

    /** Writes entries of one merchant, in order of sequence, and what they do to its accounts. The head must be locked. */
    async append(entries: readonly LedgerEntryRow[], changes: readonly AccountChange[], actor: string, transaction: Transaction): Promise<void> {
      const last = entries.at(-1)!
      const each = <Name extends keyof LedgerEntryRow>(name: Name) => entries.map(entry => entry[name])
      await rows.read(
        append,
        [
          ...[last.merchantId, last.organizationId, last.postedAt, each('sequence'), each('id'), each('movementId'), each('account'), each('amountMinor')],
          ...[each('currency'), each('kind'), each('orderId'), each('settlementBatchId'), each('previousHash'), each('hash'), last.sequence, last.hash, actor],
          ...[changes.map(({ id }) => id), changes.map(({ code }) => code), changes.map(({ currency }) => currency)],
          changes.map(({ amountMinor }) => amountMinor),
        ],
        transaction,
      )
    },

    /** A merchant's chain and balances at this moment; null before its first posting. */
    async snapshot(merchantId: string): Promise<LedgerSnapshot | null> {
      const [found] = await rows.read<ChainHead & { accounts: LedgerSnapshot['accounts'] }>(snapshot, [merchantId])
      return found ? { head: { sequence: found.sequence, hash: found.hash }, accounts: found.accounts } : null
    },

    /** The next entries of a chain, at most a thousand. They are not held for the operation: a proof looks at each once. */
    chainPart: (merchantId: string, after: bigint, upTo: bigint): Promise<LedgerEntryRow[]> =>
      readRows<LedgerEntryRow>(sequelize, chainPart, [merchantId, after, upTo, partSize]),

    /** Every merchant that has a chain, or entries without one. */
    async merchantsWithEntries(): Promise<readonly string[]> {
      return (await rows.read<{ id: string }>(allChains, [])).map(({ id }) => id)
    },
  }
}

export const ledgerEntryStore = store(
  ledgerEntries,
  {
    what: 'ledger entry',
    tenancy: { by: 'organizationId' },
    filters: { merchantId: 'eq', orderId: 'eq', settlementBatchId: 'eq', account: 'eq' },
    sorted: { by: 'sequence', way: 'asc', name: 'sequence' },
  },
  ledgerSql,
)

/** The ledger as it is opened for an operation, or for a job. */
export type LedgerEntries = ReturnType<(typeof ledgerEntryStore)['open']>

export const ledgerAccountStore = store(ledgerAccounts, {
  what: 'ledger account',
  tenancy: { by: 'organizationId' },
  filters: { merchantId: 'eq' },
})
