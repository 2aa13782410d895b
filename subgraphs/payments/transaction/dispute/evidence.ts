import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireId } from '../../../../platform/ids.ts'
import { type Hold, makeHeld } from '../../../store/claim.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { runDisputeAsk } from '../../engines/dispute/ask.ts'
import { requireAnswerable } from '../../engines/dispute/rules.ts'
import { announceOrder } from '../../engines/payment/announce.ts'
import { leaseMs } from '../../engines/payment/intention.ts'
import type { AcceptDisputeInput, DisputeEvidenceInput, SubmitDisputeEvidenceInput } from '../../resolvers.generated.ts'
import type { DisputeRow, EvidenceFile } from '../../stores/events/dispute.ts'
import type { OrderRow } from '../../stores/order.ts'

/** Limits of evidence: characters of its text, and files that it names. */
export const most = { text: 20_000, files: 5 } as const

interface Ask {
  readonly what: 'submitDisputeEvidence' | 'acceptDispute'
  readonly asks: NonNullable<DisputeRow['asks']>
  readonly input: AcceptDisputeInput
  /** What changes in the dispute with it. */
  readonly changes: (now: Date) => Partial<DisputeRow>
}

/** Records what the processor is to be asked for, and asks it, once for each key. An answer that was lost is asked for again later. */
async function ask(context: Context, { what, asks, input, changes }: Ask): Promise<DisputeRow> {
  const { disputes, viewer } = context
  const tenantId = activeOrganization(viewer, 'Disputes')
  const { id } = await disputes.require(input.id)
  const job = context.jobFor(actorOf(viewer))
  const find = () => job.disputes.byId.clear(id).load(id)
  const { row } = await makeHeld<DisputeRow>(context, {
    ...{ what, tenantId, once: input, find },
    async make({ isResumed }: Hold) {
      const known = (await find())!
      // A process that died had recorded it: whoever is due next asks for it.
      if (isResumed && (known.asks === asks || (asks === 'SUBMIT' && known.evidenceAt))) return known
      await record(context, { what, asks, input, changes })
      await job.underway.run(() => runDisputeAsk(job, id, true))
      return (await find())!
    },
  })
  return row
}

async function record(context: Context, { asks, input, changes }: Ask): Promise<void> {
  const { disputes, orders, events } = context
  const { id, orderId } = await disputes.require(input.id)
  let order: OrderRow | null = null
  await change(context, {
    ...{ of: disputes, id, expectedVersion: input.expectedVersion },
    async before({ transaction }) {
      order = await orders.lock(orderId, transaction)
    },
    decide(dispute, { now }) {
      requireAnswerable(dispute, asks === 'SUBMIT' ? 'submit' : 'accept', now)
      return { ...changes(now), asks, askAttempts: 1, nextAskAt: new Date(now.getTime() + leaseMs) }
    },
    audit: ({ after: { merchantId } }) => ({
      ...{ tenantId: merchantId, action: asks === 'SUBMIT' ? 'dispute.evidence_submitted' : 'dispute.accepted', subjectId: id },
      details: { orderId },
    }),
    announce: () => announceOrder(events, order!),
  })
}

/** @throws BAD_USER_INPUT for neither text nor files, too much of either, or a file twice; NOT_FOUND for a file of another dispute */
async function readEvidence({ disputeFiles }: Context, disputeId: string, { text: given, files: named }: DisputeEvidenceInput) {
  const text = readText(given, 'evidence.text', most.text)
  const ids = (named ?? []).map((id, at) => requireId(id, `evidence.files[${at}]`))
  if (text === null && ids.length === 0)
    throw new DomainError('BAD_USER_INPUT', 'evidence has neither text nor files: give one of them.', { field: 'evidence' })
  if (ids.length > most.files || new Set(ids).size < ids.length)
    throw new DomainError('BAD_USER_INPUT', `evidence.files takes at most ${most.files} files, each once.`, { field: 'evidence.files' })
  const files: EvidenceFile[] = []
  for (const [at, id] of ids.entries()) {
    const { disputeId: of, name, contentType, bytes, processorId } = await disputeFiles.require(id, `evidence.files[${at}]`)
    if (of !== disputeId) throw new DomainError('NOT_FOUND', `evidence.files[${at}] is no file of this dispute.`, { field: `evidence.files[${at}]`, id })
    files.push({ id, name, contentType, bytes, processorId })
  }
  return { text, files }
}

/** Sends evidence to the bank by the processor, once. */
export async function submitEvidence(context: Context, input: SubmitDisputeEvidenceInput): Promise<DisputeRow> {
  const { id } = await context.disputes.require(input.id)
  const { text: evidenceText, files: evidenceFiles } = await readEvidence(context, id, input.evidence)
  const given = { evidenceText, evidenceFiles, evidenceBy: context.viewer.userId }
  return ask(context, {
    ...{ what: 'submitDisputeEvidence', asks: 'SUBMIT', input },
    changes: now => ({ ...given, evidenceAt: now, status: 'UNDER_REVIEW' }),
  })
}

/** Accepts a dispute at the processor, which says when it is lost. */
export const acceptDispute = (context: Context, input: AcceptDisputeInput): Promise<DisputeRow> =>
  ask(context, { what: 'acceptDispute', asks: 'ACCEPT', input, changes: () => ({}) })
