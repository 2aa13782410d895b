import type { Transaction } from 'sequelize'
import type { Seen } from './domain.ts'

/** What mail works with beside its rows: made once, in `email/open.ts`. */
export interface Mailing {
  /** Where the operator publishes whose servers send, and where returned mail goes: `example.com` for `_spf.example.com`. */
  readonly mailDomain: string
  /** Looks records of DNS up. One that no server answered for is not in what it found. */
  lookUp(wanted: readonly WantedRecord[]): Promise<Seen>
  /** Has a mail looked at, in the transaction that makes it necessary. */
  wake(message: { readonly id: string; readonly organizationId: string }, at: Date, transaction: Transaction): Promise<void>
}

/** A record of DNS that the owner of a domain sets for us. */
export interface WantedRecord {
  readonly purpose: keyof Required<Seen>
  readonly type: 'TXT' | 'CNAME'
  readonly host: string
  readonly value: string
}
