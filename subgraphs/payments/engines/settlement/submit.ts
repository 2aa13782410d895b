import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId, readText } from '../../../../platform/ids.ts'
import { findMade, type WriteTransaction, writing } from '../../../store/books.ts'
import { change, write } from '../../../store/write.ts'
import type { SettlementBatchRow } from '../../stores/settlement/batch.ts'
import { announceBatch, writeCallback } from './announce.ts'
import { most, readSubmission, requireNewContent, requireReversible, requireSameBatch, reversalsOf, type Submission, sameContentMs } from './rules.ts'
import type { SettlementWork } from './work.ts'

/** For whom a batch is submitted, and by which app. */
export interface Submitter {
  readonly organizationId: string
  readonly submittedBy: string
  /** The organization's default merchant, to which settlement is booked. */
  merchantOf(unit: WriteTransaction): Promise<string>
}

/**
 * Writes a batch, with the callback that says so; the same lines under the same name are the same batch, however many submit them at once.
 * @throws BAD_USER_INPUT for a batch that contradicts itself; CONFLICT, reason NOT_CONFIGURED, BATCH_CHANGED or DUPLICATE_CONTENT
 */
export async function submitBatch(
  job: SettlementWork,
  { organizationId, submittedBy, merchantOf }: Submitter,
  given: Submission & { readonly idempotencyKey?: string | null | undefined },
): Promise<SettlementBatchRow> {
  const { settlementBatches, settlementLines, events, clock } = job
  const submitted = readSubmission(given, clock.now())
  if (!job.callbackTarget)
    throw new DomainError(
      'CONFLICT',
      'No callbacks are configured, so the outcome of a batch would not be reported: the operator has to set SETTLEMENT_CALLBACK_URL.',
      {
        reason: 'NOT_CONFIGURED',
      },
    )
  const idempotency = readIdempotency(given)
  const writer = job[writing]
  const { batch } = await write(job, {
    async run(unit) {
      const { transaction, now } = unit
      await settlementBatches.lockSubmissions(organizationId, transaction)
      const known = await settlementBatches.byName(organizationId, submitted.externalBatchId, transaction)
      const id = known?.id ?? newId(now)
      const claim = idempotency && { tenantId: organizationId, id, ...idempotency, what: 'submitSettlementBatch' }
      const earlier = claim && (await findMade(writer, settlementBatches, claim, unit))
      if (earlier) return { batch: earlier, isNew: false }
      if (known) {
        requireSameBatch(known, submitted)
        writer.replay?.()
        return { batch: known, isNew: false }
      }
      requireNewContent(await settlementBatches.byContent(organizationId, submitted.contentHash, new Date(now.getTime() - sameContentMs), transaction))
      const merchantId = await merchantOf(unit)
      const { lines, ...fields } = submitted
      const stamps = { createdAt: now, updatedAt: now, createdBy: writer.actor }
      const place = { id, merchantId, organizationId, submittedBy, lastSequence: 1, nextWorkAt: now }
      const made = await settlementBatches.insert({ ...place, ...fields, ...stamps }, transaction)
      await settlementLines.insertAll(lines, { merchantId, organizationId, batchId: id, createdBy: writer.actor, now }, transaction)
      await writeCallback(job, made, await settlementLines.states(id, transaction), unit)
      return { batch: made, isNew: true }
    },
    audit: ({ batch: { id, merchantId, externalBatchId, lineCount, controlTotalMinor, currency }, isNew }) =>
      isNew
        ? {
            ...{ tenantId: merchantId, action: 'settlement_batch.submitted', subjectId: id },
            details: { externalBatchId, lineCount, controlTotalMinor: String(controlTotalMinor), currency },
          }
        : null,
    announce({ batch: made, isNew }) {
      if (isNew) announceBatch(events, made)
    },
  })
  crash('batch-submitted')
  return batch
}

/** Which lines are taken back, and why. */
export interface Reversal {
  readonly id: string
  readonly lineIds?: readonly string[] | null | undefined
  readonly reason?: string | null | undefined
  readonly expectedVersion?: number | null | undefined
  readonly idempotencyKey?: string | null | undefined
}

/**
 * Begins to take back what was paid out of a batch, once for each key.
 * @throws BAD_USER_INPUT for a line that the batch does not have; CONFLICT, reason ILLEGAL_MOVE
 */
export function reverseBatch(job: SettlementWork, tenantId: string, input: Reversal): Promise<SettlementBatchRow> {
  const { settlementBatches, settlementLines, events } = job
  const reason = readText(input.reason, 'reason', most.reason)
  const { id, expectedVersion, lineIds = null } = input
  return change(job, {
    of: settlementBatches,
    ...{ id, expectedVersion, once: { what: 'reverseSettlementBatch', tenantId, input } },
    async decide(batch, unit) {
      const { now, transaction } = unit
      requireReversible(batch)
      const reversals = reversalsOf(await settlementLines.ofBatch(id, transaction), lineIds, now)
      await settlementLines.beginReversals(id, reversals, { currency: batch.currency, now, actor: job[writing].actor }, transaction)
      const changes = { status: 'REVERSING' as const, lastSequence: batch.lastSequence + 1, completedAt: null, nextWorkAt: now }
      await writeCallback(job, { ...batch, ...changes }, await settlementLines.states(id, transaction), unit)
      return changes
    },
    audit: ({ after }) => ({
      ...{ tenantId: after.merchantId, action: 'settlement_batch.reversal_begun', subjectId: after.id },
      details: { lineIds, changes: reason === null ? [] : [{ field: 'reason', before: null, after: reason }] },
    }),
    announce: ({ after }) => announceBatch(events, after),
  })
}
