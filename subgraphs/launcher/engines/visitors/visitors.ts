import { createHash } from 'node:crypto'
import type { Sequelize } from 'sequelize'
import { neighbourhoodOf } from '../../../../platform/caller/address.ts'
import { originNow } from '../../../../platform/caller/cause.ts'
import { type Challenges, createChallenges } from '../../../../platform/caller/challenge.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { ratesIn } from '../../../../platform/sql/rates.ts'
import { spentChallenges } from '../../../../platform/sql/spent.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { LeadKind } from '../../stores/lead.ts'

/** Table of the counts. */
export const ratesTable = 'launcher.rates'

const minuteMs = 60_000
/** How often one address calls, and how often one mail address is used for leads of one kind. */
export const limits = { address: { max: 300, windowMs: 10 * minuteMs }, mail: { max: 5, windowMs: 60 * minuteMs } } as const
/** Work of a challenge: the page solves it while somebody types. */
const counter = { from: 100, to: 300 } as const

const take = ratesIn(ratesTable)

/** What protects the forms of the marketing site, which need no credentials. */
export interface Visitors {
  /** Counts a call of the present caller's address. @throws RATE_LIMITED */
  count(): Promise<void>
  /** A new challenge, as visitors are sent it. */
  challenge(): Promise<object>
  /** Takes the solution of a challenge, which counts once. @throws FORBIDDEN, reason CHALLENGE_FAILED, whatever is wrong with it */
  requireSolution(solution: unknown): Promise<void>
  /** Counts a lead of a mail address, in the transaction that writes it. @throws RATE_LIMITED */
  countMail(kind: LeadKind, email: string, unit: WriteTransaction): Promise<void>
}

export interface VisitorOptions {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** Secret that signs challenges, the same in all processes. */
  secret(): Promise<string>
}

const tooMuch = (what: string, waitMs: number): DomainError => {
  const retryAfter = Math.ceil(waitMs / 1_000)
  return new DomainError('RATE_LIMITED', `${what}: try again in ${Math.ceil(waitMs / minuteMs)} minutes.`, { retryAfter })
}

/** Opens the protection of the forms. */
export function openVisitors({ sequelize, clock, secret }: VisitorOptions): Visitors {
  const spend = spentChallenges(sequelize, 'launcher')
  let opened: Promise<Challenges> | undefined
  const challenges = (): Promise<Challenges> => {
    // Under a secret of its own: a challenge of another service, which may cost less, is not accepted.
    opened ??= secret().then(shared => createChallenges({ spend, secret: `launcher ${shared}`, counter }))
    opened.catch(() => {
      opened = undefined
    })
    return opened
  }
  return {
    async count() {
      const address = neighbourhoodOf(originNow()?.address ?? 'unknown')
      const waitMs = await take(sequelize, { key: `address ${address}`, ...limits.address }, clock.now())
      if (waitMs > 0) throw tooMuch('Too many calls came from your address', waitMs)
    },
    challenge: async () => ({ provider: 'altcha', ...(await (await challenges()).create(clock.now())) }),
    async requireSolution(solution) {
      if (await (await challenges()).accept(solution, clock.now())) return
      throw new DomainError('FORBIDDEN', 'Solve a new challenge, and send its solution: each counts for one call, within five minutes.', {
        reason: 'CHALLENGE_FAILED',
      })
    },
    async countMail(kind, email, { transaction, now }) {
      const key = `mail ${kind} ${createHash('sha256').update(email).digest('base64url')}`
      const waitMs = await take(sequelize, { key, ...limits.mail }, now, transaction)
      if (waitMs > 0) throw tooMuch('This mail address was used too often', waitMs)
    },
  }
}
