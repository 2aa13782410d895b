import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { inTransaction, step } from '../../../store/write.ts'
import type { PolicyRequestRow, policyRequests } from '../../stores/run/policy-request.ts'
import { openRounds, type Rounds } from '../page/rounds.ts'
import { decidePolicy } from './decide.ts'
import { type PolicyService, pollDecision, type Reached, sendRequest } from './decision-service.ts'
import { pauseAfterTry, pauseBeforePoll } from './rules.ts'
import type { PolicyWork } from './work.ts'

/** How long a process has for one call before another one follows it, in ms. */
const heldMs = 20_000

/** Claims the request for which the service is called next. Without any, this is one statement. */
async function hold(job: PolicyWork, without: readonly string[]): Promise<PolicyRequestRow | null> {
  if (!(await job.policyRequests.isDue(job.clock.now()))) return null
  return inTransaction(job, async ({ transaction, now }) => {
    const due = await job.policyRequests.lockDue(now, without, transaction)
    if (!due) return null
    const tries = due.acceptedAt === null ? due.tries + 1 : due.tries
    return job.policyRequests.update(due, { nextAt: new Date(now.getTime() + heldMs), tries }, transaction)
  })
}

async function find(job: PolicyWork, service: PolicyService, held: PolicyRequestRow): Promise<Reached> {
  crash('policy-claimed')
  const reached = await (held.acceptedAt === null ? sendRequest : pollDecision)(service, held, job.clock.now())
  crash(held.acceptedAt === null ? 'policy-handed-over' : 'policy-polled')
  return reached
}

/** What a call that brought no decision changes, and the pause before the next one, in ms. */
function afterCall(
  { tries, acceptedAt }: PolicyRequestRow,
  reached: Exclude<Reached, { is: 'decided' }>,
  now: Date,
): { readonly changes: Partial<PolicyRequestRow>; readonly pauseMs: number } {
  if (reached.is === 'accepted') return { changes: { acceptedAt: now, tries: 0 }, pauseMs: reached.hasDecided ? 0 : pauseBeforePoll(now, now) }
  if (reached.is === 'unknown') return { changes: { acceptedAt: null }, pauseMs: pauseAfterTry(1) }
  return { changes: {}, pauseMs: acceptedAt === null ? pauseAfterTry(tries) : pauseBeforePoll(acceptedAt, now) }
}

/** Writes the result of a call. @returns ms until the next one; undefined: there is none */
async function conclude(job: PolicyWork, held: PolicyRequestRow, reached: Reached): Promise<number | undefined> {
  if (reached.is === 'decided') {
    // Refused when another decision was there before, or the run has ended: neither calls for another question.
    await decidePolicy(job, held.id, reached.said).catch(error => {
      if (!(error instanceof DomainError)) throw error
    })
    if (reached.said.decision !== 'hold') return undefined
  }
  if (reached.is === 'unreached') job.log.warn({ requestId: held.id, status: reached.status }, 'the settlement and policy service was not reached')
  const rest = reached.is === 'decided' ? ({ is: 'undecided' } as const) : reached
  const stepped = await step<typeof policyRequests>(job, {
    of: job.policyRequests,
    hold: held.id,
    decide(request, { now }) {
      // A decision that arrived meanwhile has ended the calls.
      if (request.nextAt === null) return null
      const { changes, pauseMs } = afterCall(held, rest, now)
      return { changes: { ...changes, nextAt: new Date(now.getTime() + pauseMs) } }
    },
  })
  return stepped?.after.nextAt ? Math.max(0, stepped.after.nextAt.getTime() - job.clock.now().getTime()) : undefined
}

/**
 * Opens what asks the settlement and policy service in this process.
 * @param job what it works with, created for each piece of work
 */
export const openAsking = (job: () => PolicyWork, service: PolicyService): Rounds =>
  openRounds<PolicyRequestRow, Reached>({
    name: 'ask-policy',
    everyMs: 20_000,
    maxAtOnce: 32,
    maxOfOne: 8,
    partyOf: ({ organizationId }) => organizationId,
    hold: without => hold(job(), without),
    find: held => find(job(), service, held),
    conclude: (held, reached) => conclude(job(), held, reached),
    report: (error, held) => job().log.error({ err: error, requestId: held.id }, 'asking for a policy decision failed; it will be retried'),
  })
