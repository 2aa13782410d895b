import { notFound } from '../../../store/store.ts'
import { write } from '../../../store/write.ts'
import { actorOf, personOf } from '../../../viewer.ts'
import type { Context, Job } from '../../context.ts'
import { announceApproval, announceWidget } from '../../engines/run/announce.ts'
import { decideOn } from '../../engines/run/approvals.ts'
import type { DecideApprovalInput } from '../../resolvers.generated.ts'
import type { ApprovalRow } from '../../stores/run/approval.ts'
import { type Decider, decide } from './rules.ts'

/** What a decision is written with: a viewer's rows, or everybody's. */
type Deciding = Pick<Context | Job, 'approvals' | 'runs' | 'runner' | 'events' | 'clock' | 'workFeed' | 'publicUrl'> & Parameters<typeof write>[0]

/**
 * Decides on an approval, and has its run go on.
 * @param uses what is used up with the decision, in its transaction
 * @throws as `decide` does
 */
export function decideNow(
  work: Deciding,
  { id, runId }: Pick<ApprovalRow, 'id' | 'runId'>,
  input: Omit<DecideApprovalInput, 'id'>,
  decider: Omit<Decider, 'startedById'>,
  uses?: (unit: Parameters<typeof decideOn>[3]) => Promise<void>,
): Promise<ApprovalRow> {
  const { approvals, runs, runner, events, clock } = work
  return write(work, {
    async run({ transaction }) {
      // The run first: whoever looks at it locks its approval afterwards.
      const run = await runs.lock(runId, transaction)
      const approval = await approvals.lock(id, transaction)
      if (!approval) throw notFound('approval', id)
      const unit = { transaction, now: clock.now() }
      await uses?.(unit)
      const decision = decide(approval, input, { ...decider, startedById: run?.startedById ?? null }, unit.now)
      const after = await decideOn(work, approval, decision, unit)
      if (after.status !== 'PENDING') await runs.wake(runId, unit.now, transaction)
      return after
    },
    announce(approval) {
      announceApproval(events, approval)
      announceWidget(events, approval.organizationId)
      runner.soon()
    },
  })
}

/** Decides on an approval as the viewer. */
export async function decideApproval(context: Context, { id, ...input }: DecideApprovalInput): Promise<ApprovalRow> {
  const actor = actorOf(context.viewer)
  return decideNow(context, await context.approvals.require(id), input, { actor, userId: personOf(actor) })
}
