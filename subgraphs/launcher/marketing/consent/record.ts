import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import type { Writing } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { ConsentSync } from '../../engines/consent/sync.ts'
import type { Visitors } from '../../engines/visitors/visitors.ts'
import type { ConsentRecord, ConsentStore } from '../../stores/consent.ts'
import { type GivenDecision, readDecision } from './rules.ts'

/** What decisions are recorded with. */
export interface ConsentWriting extends Writing {
  readonly clock: Clock
  readonly consent: ConsentStore
  readonly consentSync: ConsentSync
  readonly visitors: Visitors
}

/** Records a decision and has it sent to the consent service; one that is not newer than what stands changes nothing. @returns what stands */
export async function recordConsent(context: ConsentWriting, input: GivenDecision): Promise<ConsentRecord> {
  const { clock, consent, consentSync, visitors } = context
  await visitors.count()
  const decision = readDecision(input, clock.now())
  return inTransaction(context, async ({ transaction, now }) => {
    await consent.lock(decision.subjectId, transaction)
    const standing = await consent.latest(decision.subjectId, transaction)
    if (standing && standing.decidedAt >= decision.decidedAt) return standing
    transaction.afterCommit(() => consentSync.wake())
    return consent.insert({ id: newId(now), ...decision, syncState: consentSync.firstState }, now, transaction)
  })
}

/** Returns what a browser last decided. @throws NOT_FOUND */
export async function readConsent({ consent, visitors }: ConsentWriting, given: string): Promise<ConsentRecord> {
  await visitors.count()
  const found = await consent.latest(requireId(given, 'subjectId'))
  if (found) return found
  throw new DomainError('NOT_FOUND', 'Nothing was decided under this id.')
}
