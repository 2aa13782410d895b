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

/** An entry before it has its place in the chain. */
export type NewEntry = Omit<LedgerEntryRow, 'merchantId' | 'organizationId' | 'postedAt' | 'sequence' | 'previousHash' | 'hash'>

/** A merchant's chain and accounts as they stood at one moment. */
export interface LedgerSnapshot {
  readonly head: ChainHead
  readonly accounts: readonly { readonly code: string; readonly currency: string; readonly balanceMinor: string }[]
}

// A function of the database: it locks the end of the chain, and the next posting waits for this statement and the commit alone.
const post = statement(
  'select payments.post($1, $2, $3, $4, $5::uuid[], $6::uuid[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::uuid[], $12::uuid[])',
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
    /** Appends entries to their merchant's chain, which is locked until the transaction ends, in the order given, and to the balances of its accounts. */
    async post(
      { merchantId, organizationId, postedAt }: Pick<LedgerEntryRow, 'merchantId' | 'organizationId' | 'postedAt'>,
      entries: readonly NewEntry[],
      actor: string,
      transaction: Transaction,
    ): Promise<void> {
      const each = <Name extends keyof NewEntry>(name: Name) => entries.map(entry => entry[name])
      const common = [merchantId, organizationId, postedAt, actor]
      const what = [each('account'), each('amountMinor'), each('currency'), each('kind')]
      await rows.read(post, [...common, each('id'), each('movementId'), ...what, each('orderId'), each('settlementBatchId')], transaction)
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
