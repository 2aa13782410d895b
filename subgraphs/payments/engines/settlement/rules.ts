import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, newIdInTurn, readText, requireText } from '../../../../platform/ids.ts'
import type { BatchStatus, SettlementBatchRow } from '../../stores/settlement/batch.ts'
import type { LineState, NewLine } from '../../stores/settlement/line.ts'

/** What a batch may hold: lengths in characters, amounts in minor units. */
export const most = { lines: 1_000, text: 120, amount: 999_999_999_999n, reversals: 20, callbacks: 50, reason: 500 } as const

/** For how long the same lines under another name are refused, in ms. */
export const sameContentMs = 86_400_000

/** A batch as it is submitted. */
export interface Submission {
  readonly externalBatchId: string
  readonly currency: string
  readonly controlTotalMinor: bigint
  readonly lineCount: number
  readonly lines: readonly GivenLine[]
  readonly policyDecisionId?: string | null | undefined
  readonly contentHash?: string | null | undefined
}

interface GivenLine {
  readonly lineId: string
  readonly payer: string
  readonly payee: string
  readonly amountMinor: bigint
  readonly reference?: string | null | undefined
}

/** A batch that does not contradict itself. */
export interface ReadSubmission extends Omit<Submission, 'lines' | 'contentHash'> {
  readonly policyDecisionId: string | null
  readonly contentHash: string
  readonly lines: readonly NewLine[]
}

const wrong = (sentence: string, details: { readonly field: string; readonly reason?: string }) => new DomainError('BAD_USER_INPUT', sentence, details)

/** Returns the hash of lines: SHA-256 in hexadecimal, a line each, parts with `|` between, a missing reference empty. */
export function contentHashOf(currency: string, lines: readonly GivenLine[]): string {
  const texts = lines.map(({ lineId, payer, payee, amountMinor, reference }) => [lineId, payer, payee, amountMinor, currency, reference ?? ''].join('|'))
  return createHash('sha256').update(texts.join('\n'), 'utf8').digest('hex')
}

/**
 * Reads a batch.
 * @param now which the ids of its lines begin with
 * @throws BAD_USER_INPUT with `field`, and with the reason LINE_COUNT, DUPLICATE_LINE, SAME_PARTY, CONTROL_TOTAL or CONTENT_HASH where it contradicts itself
 */
export function readSubmission(given: Submission, now: Date): ReadSubmission {
  const { currency, controlTotalMinor, lineCount } = given
  const externalBatchId = requireText(given.externalBatchId, 'externalBatchId', most.text)
  const policyDecisionId = readText(given.policyDecisionId, 'policyDecisionId', most.text)
  if (given.lines.length < 1 || given.lines.length > most.lines)
    throw wrong(`A batch has 1 to ${most.lines} lines, not ${given.lines.length}.`, { field: 'lines' })
  const lines = given.lines.map((line, at) => readLine(line, `lines[${at}]`, newIdInTurn(now, at)))
  if (lineCount !== lines.length) throw wrong(`lineCount is ${lineCount}, and there are ${lines.length} lines.`, { field: 'lineCount', reason: 'LINE_COUNT' })
  const names = new Set<string>()
  for (const [at, { lineId, payer, payee }] of lines.entries()) {
    if (names.has(lineId))
      throw wrong(`lines[${at}] has the lineId of an earlier line: each is unique.`, { field: `lines[${at}].lineId`, reason: 'DUPLICATE_LINE' })
    names.add(lineId)
    if (payer === payee) throw wrong(`lines[${at}] pays whoever pays it.`, { field: `lines[${at}].payee`, reason: 'SAME_PARTY' })
  }
  const total = lines.reduce((all, { amountMinor }) => all + amountMinor, 0n)
  if (total !== controlTotalMinor)
    throw wrong(`controlTotalMinor is ${controlTotalMinor}, and the lines come to ${total}.`, { field: 'controlTotalMinor', reason: 'CONTROL_TOTAL' })
  const contentHash = contentHashOf(currency, given.lines)
  if (given.contentHash != null && given.contentHash !== contentHash)
    throw wrong(`contentHash is not that of these lines, which is ${contentHash}.`, { field: 'contentHash', reason: 'CONTENT_HASH' })
  return { externalBatchId, currency, controlTotalMinor, lineCount, policyDecisionId, contentHash, lines }
}

function readLine(line: GivenLine, at: string, id: string): NewLine {
  const [lineId, payer, payee] = (['lineId', 'payer', 'payee'] as const).map(name => requireText(line[name], `${at}.${name}`, most.text)) as [
    string,
    string,
    string,
  ]
  const reference = readText(line.reference, `${at}.reference`, most.text)
  const { amountMinor } = line
  if (amountMinor < 1n || amountMinor > most.amount) throw wrong(`${at}.amountMinor must be 1 to ${most.amount} minor units.`, { field: `${at}.amountMinor` })
  return { id, lineId, payer, payee, amountMinor, reference }
}

/** @throws CONFLICT, reason BATCH_CHANGED, where a name stands for other lines already */
export function requireSameBatch({ contentHash, currency }: Pick<SettlementBatchRow, 'contentHash' | 'currency'>, submitted: ReadSubmission): void {
  if (contentHash === submitted.contentHash && currency === submitted.currency) return
  throw new DomainError('CONFLICT', 'externalBatchId stands for another batch already: submit changed lines under a new name.', {
    reason: 'BATCH_CHANGED',
    field: 'externalBatchId',
  })
}

/** @throws CONFLICT, reason DUPLICATE_CONTENT, where the same lines were submitted under another name */
export function requireNewContent(twin: Pick<SettlementBatchRow, 'externalBatchId'> | null): void {
  if (twin)
    throw new DomainError('CONFLICT', `Batch ${twin.externalBatchId} of the last 24 hours has exactly these lines: give each transfer a lineId of its own.`, {
      reason: 'DUPLICATE_CONTENT',
    })
}

/** How the lines of a batch stand. */
export interface Tally {
  /** Transfers and reversals of which nobody knows yet what becomes of them. */
  readonly open: number
  readonly settled: number
  readonly reversed: number
  readonly lines: number
}

/** The status of a batch by its lines: a batch under way stays so while anything is open. */
export function statusAfter(status: BatchStatus, { open, settled, reversed, lines }: Tally): BatchStatus {
  if (open > 0) return status
  if (status === 'PROCESSING') return settled === lines ? 'SETTLED' : settled > 0 ? 'PARTIALLY_SETTLED' : 'FAILED'
  if (status === 'REVERSING') return settled === 0 && reversed > 0 ? 'REVERSED' : 'PARTIALLY_REVERSED'
  return status
}

const reversible: ReadonlySet<BatchStatus> = new Set(['SETTLED', 'PARTIALLY_SETTLED', 'PARTIALLY_REVERSED'])

type Turns = Pick<SettlementBatchRow, 'status' | 'lastSequence'>
const isTurnedOften = ({ lastSequence }: Turns): boolean => lastSequence >= 3 + 2 * most.reversals

/** Whether something can be taken back of a batch as it stands. */
export const allowsReversal = (batch: Turns): boolean => reversible.has(batch.status) && !isTurnedOften(batch)

/** @throws CONFLICT, reason ILLEGAL_MOVE, for a batch that nothing can be taken back of as it stands, and for one that was turned back often */
export function requireReversible(batch: Turns): void {
  if (allowsReversal(batch)) return
  const { status: from } = batch
  const isOften = isTurnedOften(batch)
  const sentence = isOften ? `A batch is turned back at most ${most.reversals} times.` : `A batch that is ${from} is not turned back.`
  throw new DomainError('CONFLICT', sentence, { reason: 'ILLEGAL_MOVE', from, verb: 'reverse', possible: [] })
}

/**
 * Returns the lines that are taken back, each with the id of its reversal.
 * @param names lines by the submitter's names; null: all that are settled
 * @throws BAD_USER_INPUT for a name that no line has; CONFLICT, reason ILLEGAL_MOVE, for a line that is not settled
 */
export function reversalsOf(
  lines: readonly (LineState & { readonly id: string })[],
  names: readonly string[] | null,
  now: Date,
): readonly (readonly [line: string, reversal: string])[] {
  const byName = new Map(lines.map(line => [line.lineId, line]))
  const chosen = names === null ? lines.filter(({ status }) => status === 'SETTLED') : [...new Set(names)].map(name => byName.get(name) ?? unknownLine())
  const unsettled = chosen.find(({ status }) => status !== 'SETTLED')
  if (unsettled || chosen.length === 0)
    throw new DomainError('CONFLICT', `Line ${unsettled?.lineId ?? ''} is not settled: only what was paid out is taken back.`, {
      ...{ reason: 'ILLEGAL_MOVE', from: unsettled?.status ?? 'PENDING', verb: 'reverse', possible: [] },
    })
  return chosen.map(({ id }) => [id, newId(now)] as const)
}

const unknownLine = (): never => {
  throw wrong('lineIds names a line that the batch does not have.', { field: 'lineIds' })
}
