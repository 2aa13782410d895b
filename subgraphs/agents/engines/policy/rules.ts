import type { PolicyRequestRow } from '../../stores/run/policy-request.ts'

/** What the settlement and policy service says about a request. */
export interface SaidDecision {
  readonly decision: 'allow' | 'deny' | 'hold'
  /** What it decided on; a hold may leave it out. */
  readonly actionHash: string | null
  readonly reason: string | null
  readonly policyVersion: string | null
}

type Decided = Pick<PolicyRequestRow, 'decision' | 'decidedHash' | 'reason' | 'policyVersion' | 'decidedAt' | 'nextAt'>

/** What follows from what the service says: the request changes; it is what was said before; or it comes too late, without effect. */
export type Judged = { readonly changes: Partial<Decided> } | 'repeated' | 'late'

/**
 * Decides what follows from what the service says about a request. Only an allowance of exactly the action that was asked about allows it.
 * @param isOver whether the run of the request has ended
 */
export function judge(
  { decision: present, decidedHash, actionHash, expiresAt }: Pick<PolicyRequestRow, 'decision' | 'decidedHash' | 'actionHash' | 'expiresAt'>,
  said: SaidDecision,
  { isOver, now }: { readonly isOver: boolean; readonly now: Date },
): Judged {
  const isAllowed = said.decision === 'allow' && said.actionHash === actionHash
  const decision = said.decision === 'hold' ? 'HOLD' : said.decision === 'deny' ? 'DENY' : isAllowed ? 'ALLOW' : 'MISMATCH'
  if (present === decision && (decision === 'HOLD' || decision === 'DENY' || decidedHash === said.actionHash)) return 'repeated'
  const isOpen = present === 'PENDING' || present === 'HOLD'
  if (!isOpen || isOver || expiresAt <= now) return 'late'
  const { reason, policyVersion } = said
  if (decision === 'HOLD') return { changes: { decision, reason, policyVersion } }
  return { changes: { decision, decidedHash: said.actionHash, reason, policyVersion, decidedAt: now, nextAt: null } }
}

const second = 1_000

/** The pause before a request that did not arrive is handed over again, in ms: 1 s, 2 s, 4 s and so on, 60 s at most. */
export const pauseAfterTry = (tries: number): number => Math.min(60, 2 ** Math.min(tries - 1, 10)) * second

/** The pause before the service is asked for its decision, in ms: 5 s in the first minute, then 30 s. */
export const pauseBeforePoll = (acceptedAt: Date, now: Date): number => (now.getTime() - acceptedAt.getTime() < 60 * second ? 5 : 30) * second
