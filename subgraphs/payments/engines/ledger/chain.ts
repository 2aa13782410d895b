import { createHash } from 'node:crypto'
import type { LedgerEntryRow } from '../../stores/ledger.ts'

/** The hash that a chain's first entry names as the one before it. */
export const genesisHash = '0'.repeat(64)

/** What the hash of an entry covers. */
export type Hashed = Pick<LedgerEntryRow, 'previousHash' | 'merchantId' | 'sequence' | 'movementId' | 'account' | 'amountMinor' | 'currency' | 'postedAt'>

/**
 * Returns the hash of an entry: SHA-256 in hexadecimal of its fields as text, one a line, the hash of the entry before it first. Whoever
 * changes an entry changes every later hash of the chain.
 */
export function hashOf({ previousHash, merchantId, sequence, movementId, account, amountMinor, currency, postedAt }: Hashed): string {
  const lines = [previousHash, merchantId, sequence, movementId, account, amountMinor, currency, postedAt.toISOString()]
  return createHash('sha256').update(lines.join('\n'), 'utf8').digest('hex')
}
