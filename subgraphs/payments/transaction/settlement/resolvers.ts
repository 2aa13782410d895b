import { DomainError } from '../../../../platform/errors.ts'
import { mapEvents } from '../../../../platform/events.ts'
import { newId } from '../../../../platform/ids.ts'
import { record } from '../../../store/books.ts'
import { makeHeld } from '../../../store/claim.ts'
import { inTransaction } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { announceBatch, batchTopic } from '../../engines/settlement/announce.ts'
import { resend } from '../../engines/settlement/callbacks.ts'
import { workOn } from '../../engines/settlement/run.ts'
import { reverseBatch, submitBatch } from '../../engines/settlement/submit.ts'
import type { ResendSettlementCallbackInput, Resolvers, ReverseSettlementBatchInput, SubmitSettlementBatchInput } from '../../resolvers.generated.ts'
import type { SettlementBatchRow } from '../../stores/settlement/batch.ts'
import type { SettlementCallbackRow } from '../../stores/settlement/callback.ts'
import { shownFailure } from '../failure.ts'

/** The one app that has batches paid out. */
const settlementApp = 'app_settlement'
/** What a merchant counts in that nobody has said anything of. */
const defaultCurrency = 'EUR'

/** @throws FORBIDDEN for any other service; BAD_USER_INPUT without an organization */
function submitterOf({ viewer }: Context): string {
  if (viewer.kind !== 'service' || viewer.appId !== settlementApp)
    throw new DomainError('FORBIDDEN', 'Only the settlement service submits and reverses batches.', { app: settlementApp })
  return activeOrganization(viewer, 'Settlement batches')
}

/** Has a batch worked on at once; a process that dies leaves it to whoever looks next. */
function begin(context: Context, batchId: string): void {
  const job = context.jobFor('settlement')
  void context.underway.run(() => workOn(job, batchId))
}

async function submit(context: Context, input: SubmitSettlementBatchInput): Promise<SettlementBatchRow> {
  const organizationId = submitterOf(context)
  const { merchants, viewer } = context
  const known = await merchants.defaultOf(organizationId)
  const name = known ? '' : await context.nameOf(viewer)
  const batch = await submitBatch(
    context,
    {
      ...{ organizationId, submittedBy: settlementApp },
      merchantOf: async ({ now, transaction }) =>
        known ?? merchants.ensureDefault({ id: newId(now), organizationId, name, defaultCurrency, createdAt: now, createdBy: actorOf(viewer) }, transaction),
    },
    input,
  )
  begin(context, batch.id)
  return batch
}

async function reverse(context: Context, input: ReverseSettlementBatchInput): Promise<SettlementBatchRow> {
  const batch = await reverseBatch(context, submitterOf(context), input)
  begin(context, batch.id)
  return batch
}

async function resendCallback(context: Context, input: ResendSettlementCallbackInput): Promise<SettlementCallbackRow> {
  const tenantId = activeOrganization(context.viewer, 'Settlement callbacks')
  const { id, batchId } = await context.settlementCallbacks.require(input.id)
  const job = context.jobFor(actorOf(context.viewer))
  const find = () => job.settlementCallbacks.byId.clear(id).load(id)
  const { row } = await makeHeld<SettlementCallbackRow>(context, {
    ...{ what: 'resendSettlementCallback', tenantId, once: input, find },
    async make() {
      await resend(job, (await find())!)
      await inTransaction(context, unit => record(context, { tenantId, action: 'settlement_callback.resent', subjectId: id, details: { batchId } }, unit))
      const batch = await job.settlementBatches.byId.load(batchId)
      if (batch) announceBatch(context.events, batch)
      return (await find())!
    },
  })
  return row
}

const money = (amountMinor: bigint, currency: string) => ({ amountMinor, currency })

export const settlementResolvers: Resolvers = {
  Query: {
    settlementBatch: (_, { id }, { settlementBatches }) => settlementBatches.require(id),
    settlementBatches: async (_, { status, externalBatchId, ...page }, { viewer, settlementBatches }) => {
      activeOrganization(viewer, 'Settlement batches')
      return settlementBatches.filtered({ status, externalBatchId }, page)
    },
  },
  Mutation: {
    submitSettlementBatch: (_, { input }, context) => submit(context, input),
    reverseSettlementBatch: (_, { input }, context) => reverse(context, input),
    resendSettlementCallback: (_, { input }, context) => resendCallback(context, input),
  },
  Subscription: {
    settlementBatchUpdated: {
      subscribe: async (_, { id }, { settlementBatches, events }) => {
        const batch = await settlementBatches.require(id)
        return mapEvents(events.listen([batchTopic(batch.id)]), () => ({ batchId: batch.id }))
      },
      resolve: ({ batchId }: { batchId: string }, _: unknown, { settlementBatches }: Context) => settlementBatches.byId.load(batchId),
    },
  },
  SettlementBatch: {
    __resolveReference: ({ id }, { settlementBatches }) => settlementBatches.byId.load(id),
    controlTotal: ({ controlTotalMinor, currency }) => money(controlTotalMinor, currency),
    settledTotal: ({ settledTotalMinor, currency }) => money(settledTotalMinor, currency),
    reversedTotal: ({ reversedTotalMinor, currency }) => money(reversedTotalMinor, currency),
    lines: ({ id }, page, { settlementLines }) => settlementLines.page('ofBatch', id, page),
    callbacks: ({ id }, _, { settlementCallbacks }) => settlementCallbacks.manyBy('batchId').load(id),
  },
  SettlementLine: {
    amount: async ({ amountMinor, batchId }, _, { settlementBatches }) => money(amountMinor, (await settlementBatches.byId.load(batchId))!.currency),
    failure: ({ failureCode, failureMessage }) => shownFailure(failureCode, failureMessage),
  },
  SettlementCallback: {
    attempts: ({ attemptLog }) => attemptLog.map(({ at, ...attempt }) => ({ ...attempt, at: new Date(at) })),
  },
}
