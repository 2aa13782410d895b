import type { LineName, LineTransactions, OursRow } from '../../stores/reconciliation.ts'

/** How many differences are listed, how many of the processor's records are read, and how many are looked up one by one. */
export const most = { differences: 1_000, pages: 50, lookups: 50 } as const

/** Names the transactions of transfers, which the processor was told of by their lines. */
export function withTransfers(theirs: readonly Theirs[], lines: readonly LineTransactions[]): readonly Theirs[] {
  const keyOf = ({ batchId, lineId }: LineName) => `${batchId} ${lineId}`
  const byName = new Map(lines.map(line => [keyOf(line), line]))
  return theirs.map(record => {
    const line = record.line && byName.get(keyOf(record.line))
    return line && (record.type === 'TRANSFER' || record.type === 'TRANSFER_REVERSAL') ? { ...record, transactionId: line[record.type] } : record
  })
}

/** Kinds of record at the processor. */
export type TheirType = 'PAYMENT_INTENT' | 'REFUND' | 'TRANSFER' | 'TRANSFER_REVERSAL' | 'DISPUTE'

/** One record of the processor. */
export interface Theirs {
  readonly id: string
  readonly type: TheirType
  /** As the processor calls it; null for transfers, which are either there or not. */
  readonly status: string | null
  readonly amountMinor: bigint
  readonly currency: string
  readonly createdAt: Date
  /** Our transaction, as it was sent along; null where it was not. */
  readonly transactionId: string | null
  /** The line of a settlement batch that was sent along in its place, with a transfer; null with anything else. */
  readonly line: LineName | null
}

/** How far something has got, in words that hold on both sides. */
type State = 'DONE' | 'HELD' | 'CANCELED' | 'FAILED' | 'OPEN'

/** One payment, refund, transfer or dispute as our transactions tell it. */
export interface Ours {
  readonly transactionId: string
  readonly type: TheirType
  readonly processorId: string | null
  readonly state: State
  /** The status of its transaction. */
  readonly status: string
  readonly amountMinor: bigint
  readonly currency: string
  readonly createdAt: Date
  /** Whether a call to the processor may be under way for it at this moment. */
  readonly isUnderway: boolean
}

export type DifferenceKind = 'MISSING_HERE' | 'MISSING_THERE' | 'AMOUNT' | 'STATUS'

export interface Difference {
  readonly kind: DifferenceKind
  readonly transactionId: string | null
  readonly processorId: string | null
  readonly ours: string | null
  readonly theirs: string | null
  readonly at: Date
}

const types: Readonly<Partial<Record<OursRow['type'], TheirType>>> = {
  AUTHORIZE: 'PAYMENT_INTENT',
  PURCHASE: 'PAYMENT_INTENT',
  REFUND: 'REFUND',
  TRANSFER: 'TRANSFER',
  TRANSFER_REVERSAL: 'TRANSFER_REVERSAL',
  CHARGEBACK: 'DISPUTE',
}

const states: Readonly<Record<OursRow['status'], State>> = { SUCCEEDED: 'DONE', FAILED: 'FAILED', PENDING: 'OPEN', UNKNOWN: 'OPEN' }

/** Tells what our transactions say of each thing: captures and voids are part of their payment, by its name at the processor. */
export function oursOf(rows: readonly OursRow[], now: Date): readonly Ours[] {
  const later = new Map<string, State>()
  for (const { type, status, processorId } of rows)
    if (processorId && status === 'SUCCEEDED' && (type === 'CAPTURE' || type === 'VOID')) later.set(processorId, type === 'CAPTURE' ? 'DONE' : 'CANCELED')
  return rows.flatMap(row => {
    const type = types[row.type]
    if (!type) return []
    const { id: transactionId, status, processorId, amountMinor, currency, createdAt, nextAttemptAt } = row
    const held = row.type === 'AUTHORIZE' && status === 'SUCCEEDED' ? ((processorId && later.get(processorId)) ?? 'HELD') : states[status]
    const isUnderway = status === 'PENDING' && processorId === null && nextAttemptAt !== null && nextAttemptAt > now
    return [{ transactionId, type, processorId, state: held as State, status, amountMinor, currency, createdAt, isUnderway }]
  })
}

/** What the processor's words mean; what is not listed is done, for transfers have no word. */
const theirStates: Readonly<Record<TheirType, Readonly<Record<string, State>>>> = {
  PAYMENT_INTENT: {
    ...{ SUCCEEDED: 'DONE', REQUIRES_CAPTURE: 'HELD', CANCELED: 'CANCELED', PROCESSING: 'OPEN' },
    ...{ REQUIRES_PAYMENT_METHOD: 'FAILED', REQUIRES_ACTION: 'FAILED', REQUIRES_CONFIRMATION: 'FAILED' },
  },
  REFUND: { SUCCEEDED: 'DONE', FAILED: 'FAILED', CANCELED: 'FAILED', PENDING: 'OPEN', REQUIRES_ACTION: 'OPEN' },
  TRANSFER: {},
  TRANSFER_REVERSAL: {},
  DISPUTE: {},
}
const stateOf = ({ type, status }: Theirs): State => theirStates[type][status ?? ''] ?? 'DONE'

const amountOf = ({ amountMinor, currency }: Pick<Theirs, 'amountMinor' | 'currency'>): string => `${amountMinor} ${currency}`
const wordOf = ({ status, type }: Theirs): string => status ?? (type === 'DISPUTE' ? 'OPEN' : 'SUCCEEDED')

/** How one thing differs that both speak of; null where it is the same. */
export function differenceOf(ours: Ours, theirs: Theirs): Difference | null {
  const named = { transactionId: ours.transactionId, processorId: theirs.id, at: ours.createdAt }
  if (amountOf(ours) !== amountOf(theirs)) return { kind: 'AMOUNT', ...named, ours: amountOf(ours), theirs: amountOf(theirs) }
  const [here, there] = [ours.state, stateOf(theirs)]
  // A payment that failed is cancelled there sooner or later, and a dispute has words of its own.
  const isSame = here === there || ours.type === 'DISPUTE' || (here === 'FAILED' && there === 'CANCELED')
  return isSame ? null : { kind: 'STATUS', ...named, ours: ours.status, theirs: wordOf(theirs) }
}

/** Whether our records say that the processor has something on record. */
export const isExpected = ({ state, isUnderway }: Ours): boolean => !isUnderway && (state === 'DONE' || state === 'HELD' || state === 'CANCELED')

/** Our thing that the processor does not have. */
export const missingThere = (ours: Ours): Difference => ({
  ...{ kind: 'MISSING_THERE', transactionId: ours.transactionId, processorId: ours.processorId, at: ours.createdAt },
  ...{ ours: `${ours.status} ${amountOf(ours)}`, theirs: null },
})

/** The processor's record that nothing here speaks of; null where it never moved money. */
export function missingHere(theirs: Theirs): Difference | null {
  const state = stateOf(theirs)
  if (state === 'FAILED' || state === 'CANCELED') return null
  return {
    kind: 'MISSING_HERE',
    transactionId: null,
    processorId: theirs.id,
    ours: null,
    theirs: `${wordOf(theirs)} ${amountOf(theirs)}`,
    at: theirs.createdAt,
  }
}
