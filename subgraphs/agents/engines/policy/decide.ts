import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { notFound } from '../../../store/store.ts'
import { write } from '../../../store/write.ts'
import { announceRun } from '../run/announce.ts'
import { isOver } from '../run/state.ts'
import { noteDecision } from './request.ts'
import { judge, type SaidDecision } from './rules.ts'
import type { PolicyWork } from './work.ts'

/**
 * Writes down what the settlement and policy service says about a request, and has its run go on. What it said before changes nothing.
 * @throws NOT_FOUND for an unknown request; CONFLICT, reason DECIDED, for another decision after a final one, and for any after the end
 */
export async function decidePolicy(job: PolicyWork, id: string, said: SaidDecision): Promise<void> {
  const { policyRequests, runs, runner, events, clock } = job
  const known = await policyRequests.find(id)
  if (!known) throw notFound('policy request', id)
  await write(job, {
    async run({ transaction }) {
      // The run first: whoever looks at it locks its request afterwards.
      const run = await runs.lock(known.runId, transaction)
      const request = await policyRequests.lock(id, transaction)
      if (!run || !request) throw notFound('policy request', id)
      const unit = { transaction, now: clock.now() }
      const { now } = unit
      const judged = judge(request, said, { isOver: isOver(run.status), now })
      if (judged === 'repeated') return null
      if (judged === 'late')
        throw new DomainError('CONFLICT', 'This request was decided differently, or has ended: the decision has no effect.', {
          ...{ reason: 'DECIDED', status: request.decision },
        })
      const after = await policyRequests.update(request, { ...judged.changes, updatedAt: now, version: request.version + 1 }, transaction)
      const isFinal = after.decision !== 'HOLD'
      if (isFinal) await noteDecision(job, after, unit)
      const woken = await runs.update(run, { ...(isFinal && { wakeAt: now }), updatedAt: now, version: run.version + 1 }, transaction)
      crash('policy-decision-written')
      return woken
    },
    announce(run) {
      crash('policy-decision-committed')
      announceRun(events, run)
      runner.soon()
    },
  })
}
