import type { Transaction } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import type { Unit } from '../../../store/books.ts'
import type { ContextOf, Contexts } from '../../../store/context.ts'
import type { Services, stores } from '../../context.ts'
import type { Pages } from '../../http/public.ts'
import type { createAttempts } from '../guessing/attempts.ts'
import type { Hashing } from './hashing.ts'

/** Who may make an account: everybody, or only who was invited. */
export type SignUp = 'open' | 'invited'

/** What the rows of accounts stand on. */
export interface AccountGround extends Pages {
  readonly clock: Clock
  readonly contexts: Pick<Contexts<typeof stores, Services>, 'everybodys' | 'forRequest'>
  readonly attempts: ReturnType<typeof createAttempts>
  readonly hashing: Hashing
  readonly signUp: SignUp
  readonly clientAddressHeader: string
  /** Counts a mail that a person has sent to an address of its choice. @returns 0, or the milliseconds until the next may go */
  countAddress(userId: string): Promise<number>
  /** Has a request seen to, in the transaction that writes it. */
  wake(requestId: string, transaction: Transaction): Promise<void>
}

/** Everybody's rows, and what goes with them. */
export type Work = ReturnType<AccountGround['contexts']['everybodys']>

/** What a person's own request works with. */
export type OwnWork = ContextOf<typeof stores, Services>

/** An answer of these rows; nobody keeps one. */
export const answerOf = (status: number, body?: object): Response =>
  body ? Response.json(body, { status, headers: { 'cache-control': 'no-store' } }) : new Response(null, { status, headers: { 'cache-control': 'no-store' } })

/**
 * Sets a new password, and ends what was asked for before it and has not been answered: whoever knew the former one may have asked, for an
 * address of their own. Hold the account.
 */
export async function setPassword({ accounts, codes, recoveryEmails }: Passwords, userId: string, password: string, unit: Unit): Promise<void> {
  await accounts.setPassword(userId, password, unit)
  await codes.end(userId, ['reset-password', 'confirm-email', 'verify-recovery-email', 'handoff'], unit.transaction)
  await recoveryEmails.forgetPending(userId, unit.transaction)
}

type Passwords = Pick<Work, 'accounts' | 'codes' | 'recoveryEmails'>

/** A line of the record about a person's account, as that person did it. */
export const done = (userId: string, action: string, details: Readonly<Record<string, unknown>> = {}) => ({
  tenantId: userId,
  action,
  subjectId: userId,
  personId: userId,
  actor: `user:${userId}`,
  details,
})
