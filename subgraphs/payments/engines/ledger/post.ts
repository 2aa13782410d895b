import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, type Writing, writing } from '../../../store/books.ts'
import type { AccountChange, LedgerEntries, LedgerEntryRow } from '../../stores/ledger.ts'
import { genesisHash, hashOf } from './chain.ts'
import type { Booking } from './movements.ts'

/** What posting works with. */
export interface LedgerWriting extends Writing {
  readonly ledgerEntries: Pick<LedgerEntries, 'lockHead' | 'append'>
}

/** One movement to post. */
export interface Movement extends Booking {
  readonly currency: string
  readonly orderId?: string | null
  readonly settlementBatchId?: string | null
}

/** Whose ledger is written. */
export interface LedgerOwner {
  readonly merchantId: string
  readonly organizationId: string
}

/**
 * Posts movements of one merchant, in the transaction that changes the records which they are of: both are written, or neither. Call it last
 * in that transaction, because the next posting of the merchant waits from here on. The database refuses a movement that does not balance.
 * @param movements in the order in which their entries follow each other; none posts nothing
 * @returns the ids of the movements
 */
export async function post(
  context: LedgerWriting,
  { merchantId, organizationId }: LedgerOwner,
  movements: readonly Movement[],
  { transaction, now }: WriteTransaction,
): Promise<readonly string[]> {
  if (movements.length === 0) return []
  const { ledgerEntries } = context
  const head = await ledgerEntries.lockHead(merchantId, organizationId, genesisHash, transaction)
  const entries: LedgerEntryRow[] = []
  const ids: string[] = []
  let { sequence, hash: previousHash } = head
  for (const { kind, legs, currency, orderId = null, settlementBatchId = null } of movements) {
    const movementId = newId(now)
    ids.push(movementId)
    for (const { account, amountMinor } of legs) {
      sequence += 1n
      const place = { merchantId, organizationId, id: newId(now), sequence, movementId, orderId, settlementBatchId }
      const entry = { ...place, account, amountMinor, currency, kind, postedAt: now, previousHash }
      previousHash = hashOf(entry)
      entries.push({ ...entry, hash: previousHash })
    }
  }
  await ledgerEntries.append(entries, changesOf(entries, now), context[writing].actor, transaction)
  return ids
}

/** What entries add to each account; an account that ends as it began is still named, so that it exists. */
function changesOf(entries: readonly LedgerEntryRow[], now: Date): readonly AccountChange[] {
  const changes = new Map<string, AccountChange>()
  for (const { account: code, currency, amountMinor } of entries) {
    const key = `${currency} ${code}`
    const known = changes.get(key) ?? { id: newId(now), code, currency, amountMinor: 0n }
    changes.set(key, { ...known, amountMinor: known.amountMinor + amountMinor })
  }
  // In one order for every posting: accounts are locked as they are written.
  return [...changes.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}
