import type { Transaction } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { ContextOf, Contexts } from '../../../store/context.ts'
import type { Services, stores } from '../../context.ts'
import type { Pages } from '../../http/public.ts'
import type { createAttempts } from '../guessing/attempts.ts'
import type { Hashing } from './hashing.ts'

/** Who may create an account: everyone, or only invited people. */
export type SignUp = 'open' | 'invited'

/** Dependencies of the account routes. */
export interface AccountGround extends Pages {
  readonly clock: Clock
  readonly contexts: Pick<Contexts<typeof stores, Services>, 'systemContext' | 'forRequest'>
  readonly attempts: ReturnType<typeof createAttempts>
  readonly hashing: Hashing
  readonly signUp: SignUp
  readonly clientAddressHeader: string
  /**
   * Counts a mail that a person sends to an address of their choice. @returns 0, or the milliseconds until the next one
   * is allowed
   */
  countAddress(userId: string): Promise<number>
  /** Schedules the processing of a request, in the transaction that writes it. */
  wake(requestId: string, transaction: Transaction): Promise<void>
}

/** Context with the rows of all organizations. */
export type Work = ReturnType<AccountGround['contexts']['systemContext']>

/** Context of a person's own request. */
export type OwnWork = ContextOf<typeof stores, Services>

/** Builds an answer that must not be cached. */
export const answerOf = (status: number, body?: object): Response =>
  body ? Response.json(body, { status, headers: { 'cache-control': 'no-store' } }) : new Response(null, { status, headers: { 'cache-control': 'no-store' } })

/**
 * Sets a new password, and ends earlier open requests: somebody who knew the former password may have made them, for an
 * address of their own. Lock the account first.
 */
export async function setPassword({ accounts, codes, recoveryEmails }: Passwords, userId: string, password: string, unit: WriteTransaction): Promise<void> {
  await accounts.setPassword(userId, password, unit)
  await codes.end(userId, ['reset-password', 'confirm-email', 'verify-recovery-email', 'handoff'], unit.transaction)
  await recoveryEmails.forgetPending(userId, unit.transaction)
}

type Passwords = Pick<Work, 'accounts' | 'codes' | 'recoveryEmails'>

/** Builds an audit entry about a person's own action on their account. */
export const done = (userId: string, action: string, details: Readonly<Record<string, unknown>> = {}) => ({
  tenantId: userId,
  action,
  subjectId: userId,
  personId: userId,
  actor: `user:${userId}`,
  details,
})
