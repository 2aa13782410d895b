import { createHash, createHmac, randomBytes } from 'node:crypto'
import { neighbourhoodOf } from '../../../../platform/caller/address.ts'
import { addressHeader } from '../../../../platform/caller/cause.ts'
import { type Challenges, createChallenges } from '../../../../platform/caller/challenge.ts'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import type { ChallengeProvider, ProviderChallenges } from '../../../../platform/outbound/challenge-provider.ts'
import type { Writing } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { chatRateStore } from '../../stores/chat/rate.ts'
import type { ChatSessionRow, chatSessionStore } from '../../stores/chat/session.ts'
import type { ChatSiteRow, Persona } from '../../stores/chat/site.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What visitors are counted and remembered with. */
export interface Job extends Writing {
  readonly chatRates: Opened<typeof chatRateStore>
  readonly chatSessions: Opened<typeof chatSessionStore>
  readonly clock: Clock
}

/** What lets a visitor in. */
export interface Said {
  readonly solution?: string | null | undefined
  readonly clearance?: string | null | undefined
}

/** How long a clearance lives, and how many turns it has. */
export const session = { livesMs: 30 * 60_000, turns: 20 } as const
const minute = 60_000
const perMinute = { session: 10, address: 30, site: 600, challenges: 60 } as const

/** A service that gives visitors their challenges in place of ours, and verifies what they bring. */
export interface GivenChallenges extends ProviderChallenges {
  readonly provider: ChallengeProvider
  /** Key under which pages ask it for a challenge. */
  readonly siteKey: string
}

/** What guards the public chat in this process. */
export interface Gate {
  /** A new challenge, as visitors are sent it. @throws RATE_LIMITED */
  challenge(job: Job, request: Request): Promise<object>
  /** Counts a call that is refused among its address's. @throws RATE_LIMITED instead of the refusal */
  refused(job: Job, request: Request): Promise<void>
  /**
   * Lets a visitor in: takes a turn of the session that the clearance belongs to, or begins one for a solution.
   * @throws FORBIDDEN, reason CHALLENGE_REQUIRED, CHALLENGE_FAILED or CLEARANCE_ENDED; RATE_LIMITED with `scope`; UPSTREAM_FAILED while nobody
   * verifies solutions
   */
  admit(job: Job, request: Request, site: ChatSiteRow, persona: Persona, said: Said): Promise<Admitted>
  /** The session of a clearance. @throws FORBIDDEN, reason CLEARANCE_ENDED */
  sessionOf(job: Job, clearance: string, organizationId?: string): Promise<ChatSessionRow>
}

/** A visitor whose turn is taken. */
export interface Admitted {
  readonly session: ChatSessionRow
  readonly clearance: string
}

export const tooMany = (scope: string, waitMs: number): DomainError =>
  new DomainError('RATE_LIMITED', 'That is too much at once: wait for a moment, then go on.', {
    ...{ scope, retryAfter: Math.min(60, Math.max(1, Math.ceil(waitMs / 1_000))) },
  })

const hashOf = (clearance: string): string => createHash('sha256').update(clearance).digest('hex')
const addressOf = (request: Request): string => neighbourhoodOf(request.headers.get(addressHeader) ?? 'unknown')
const ended = (): DomainError => new DomainError('FORBIDDEN', 'This chat has ended: solve a new challenge to begin another.', { reason: 'CLEARANCE_ENDED' })

/**
 * Opens the gate.
 * @param secret what our challenges are signed with; null: one of the service's own, kept in its database
 * @param given  challenges of a provider; null: ours
 */
export function openGate(
  secret: string | null,
  {
    cipher,
    spend,
    given,
  }: { readonly cipher: Cipher; readonly spend: (hash: Uint8Array, expiresAt: Date) => Promise<boolean>; readonly given: GivenChallenges | null },
): Gate {
  let opened: Promise<{ readonly challenges: Challenges; readonly secret: string }> | undefined
  const open = async (job: Job) => {
    opened ??= (async () => {
      const shared = secret ?? (await job.chatRates.secret('public chat', cipher, () => randomBytes(32).toString('base64url')))
      return { secret: shared, challenges: createChallenges({ spend, secret: shared, counter: { from: 1_000, to: 2_000 } }) }
    })()
    opened.catch(() => {
      opened = undefined
    })
    return opened
  }

  const challengesOf = (request: Request) => ({ key: `challenges ${addressOf(request)}`, max: perMinute.challenges, windowMs: minute })

  async function count(job: Job, request: Request): Promise<void> {
    const waitMs = await job.chatRates.take(challengesOf(request), job.clock.now())
    if (waitMs > 0) throw tooMany('address', waitMs)
  }

  async function make(job: Job): Promise<object> {
    if (given) return { provider: given.provider, siteKey: given.siteKey }
    const { challenges } = await open(job)
    return { provider: 'altcha', ...(await challenges.create(job.clock.now())) }
  }

  /** Whether a solution is valid. An address whose calls were refused too often has nobody asked outside. */
  async function isSolved(job: Job, request: Request, solution: string): Promise<boolean> {
    const now = job.clock.now()
    if (!given) return (await open(job)).challenges.accept(solution, now)
    const waitMs = await job.chatRates.waitOf(challengesOf(request), now)
    if (waitMs > 0) throw tooMany('address', waitMs)
    return given.accept(solution, now)
  }

  async function sessionOf(job: Job, clearance: string, organizationId?: string): Promise<ChatSessionRow> {
    const found = await job.chatSessions.withClearance(hashOf(clearance))
    if (!found || found.expiresAt <= job.clock.now() || (organizationId !== undefined && found.organizationId !== organizationId)) throw ended()
    return found
  }

  /** Counts a turn in every window, or in none. */
  const turn = (job: Job, request: Request, site: ChatSiteRow, persona: Persona, begun: ChatSessionRow, isNew: boolean): Promise<ChatSessionRow> =>
    inTransaction(job, async ({ transaction }) => {
      const now = job.clock.now()
      if (isNew) await job.chatSessions.insert(begun, transaction)
      const rates = [
        ['session', begun.id, perMinute.session],
        ['address', addressOf(request), perMinute.address],
        ['site', site.organizationId, perMinute.site],
      ] as const
      const taken = await job.chatSessions.takeTurn(begun.id, persona.slug, session.turns, now, transaction)
      if (!taken) throw ended()
      for (const [scope, key, max] of rates) {
        const waitMs = await job.chatRates.take({ key: `${scope} ${key}`, max, windowMs: minute }, now, transaction)
        if (waitMs > 0) throw tooMany(scope, waitMs)
      }
      return taken
    })

  return {
    sessionOf,
    refused: count,
    async challenge(job, request) {
      await count(job, request)
      return make(job)
    },
    async admit(job, request, site, persona, { clearance, solution }) {
      if (clearance) return { clearance, session: await turn(job, request, site, persona, await sessionOf(job, clearance, site.organizationId), false) }
      if (!solution)
        throw new DomainError('FORBIDDEN', 'Solve the challenge first, and send its solution with the message.', {
          ...{ reason: 'CHALLENGE_REQUIRED', challenge: await make(job) },
        })
      const now = job.clock.now()
      if (!(await isSolved(job, request, solution)))
        throw new DomainError('FORBIDDEN', 'This solution is not valid: request a new challenge.', { reason: 'CHALLENGE_FAILED' })
      const { secret: shared } = await open(job)
      const fresh = randomBytes(32).toString('base64url')
      const begun: ChatSessionRow = {
        ...{ id: newId(now), organizationId: site.organizationId, clearanceHash: hashOf(fresh), persona: persona.slug, turnsTaken: 0 },
        addressHash: createHmac('sha256', shared).update(addressOf(request)).digest('hex'),
        ...{ expiresAt: new Date(now.getTime() + session.livesMs), startedAt: now, lastTurnAt: now, createdAt: now },
      }
      return { clearance: fresh, session: await turn(job, request, site, persona, begun, true) }
    },
  }
}
