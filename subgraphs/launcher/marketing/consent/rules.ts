import { DomainError } from '../../../../platform/errors.ts'
import { requireId, requireName } from '../../../../platform/ids.ts'
import { purposeNames } from '../../engines/consent/sync.ts'
import type { ConsentRecord, NewDecision } from '../../stores/consent.ts'

const maxVersion = 80

/** For what cookies may be used. */
export type Purposes = Pick<ConsentRecord, 'analytics' | 'personalization' | 'advertising'>

/** A decision as it is given. */
export interface GivenDecision {
  readonly subjectId: string
  readonly decision: ConsentRecord['decision']
  readonly purposes?: Purposes | null | undefined
  readonly policyVersion: string
  readonly decidedAt: Date
}

const all = (value: boolean): Purposes => ({ analytics: value, personalization: value, advertising: value })

function purposesOf(decision: ConsentRecord['decision'], given: Purposes | null | undefined): Purposes {
  if (decision === 'CUSTOM') {
    if (given) return given
    throw new DomainError('BAD_USER_INPUT', 'purposes is missing: CUSTOM says of each purpose whether it is allowed.', { field: 'purposes' })
  }
  const meant = all(decision === 'ACCEPT')
  if (!given || purposeNames.every(name => given[name] === meant[name])) return meant
  throw new DomainError('BAD_USER_INPUT', `purposes contradicts the decision: ${decision} ${meant.analytics ? 'allows all of them' : 'allows none'}.`, {
    field: 'purposes',
  })
}

/** Reads a decision. @throws BAD_USER_INPUT with the field that is wrong */
export const readDecision = ({ subjectId, decision, purposes, policyVersion, decidedAt }: GivenDecision, now: Date): Omit<NewDecision, 'id' | 'syncState'> => ({
  subjectId: requireId(subjectId, 'subjectId'),
  decision,
  ...purposesOf(decision, purposes),
  policyVersion: requireName(policyVersion, 'policyVersion', maxVersion),
  // A clock that is ahead must not outlive what the browser decides later.
  decidedAt: decidedAt > now ? now : decidedAt,
})
