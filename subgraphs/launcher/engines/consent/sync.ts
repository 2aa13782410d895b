import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { ConsentRecord, ConsentStore, HeldSubject, TurnEnd } from '../../stores/consent.ts'
import { openAlarm } from '../notify/alarm.ts'

export const purposeNames = ['analytics', 'personalization', 'advertising'] as const

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000]
/** Pauses before a decision is sent again, in ms; then hourly. */
const pauses = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs] as const
/** How long a consent service may be away, in ms; then decisions are kept here alone. */
const maxAwayMs = 7 * 24 * hourMs

/** Returns when a decision is sent again; null when it is given up. @param attempts failures in a row, 1 or more */
export function nextAttempt(attempts: number, failingSince: Date, now: Date): Date | null {
  const next = new Date(now.getTime() + (pauses[attempts - 1] ?? hourMs))
  return next.getTime() - failingSince.getTime() > maxAwayMs ? null : next
}

/** Where the consent service is. */
export interface ConsentService {
  /** Address without a trailing slash. */
  readonly url: string
  readonly project: string
}

export interface ConsentOptions {
  readonly store: ConsentStore
  /** Null: decisions are kept here alone. */
  readonly service: ConsentService | null
  readonly outbound: WayOut
  readonly clock: Clock
  readonly log: Logger
}

/** Sends decisions of browsers to the consent service. */
export interface ConsentSync {
  /** State of a new decision: to be sent, or kept here alone. */
  readonly firstState: ConsentRecord['syncState']
  /** Starts sending early, after a commit. */
  wake(): void
  readonly sweep: Sweep
}

/** Time limit of a call and lease of a browser in ms, and maximum browsers of one round. */
const [timeoutMs, holdMs, atOnce] = [10_000, 60_000, 20]
/** Maximum decisions of a browser that are sent in one turn, within the time that it is held. */
const maxATurn = 5

/** Result of a delivery: `invalid` when repeating it is pointless, `later` when it has to be repeated, or may still arrive. */
type Delivery = 'taken' | 'invalid' | 'later'

/** Statuses of requests that are wrong for the moment alone. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

export const openConsentSync = ({ store, service, outbound, clock, log }: ConsentOptions): ConsentSync => {
  const alarm = openAlarm(clock)

  async function deliver({ url, project }: ConsentService, row: ConsentRecord): Promise<Delivery> {
    const { id, subjectId, policyVersion } = row
    const purposes = Object.fromEntries(purposeNames.map(name => [name, row[name]]))
    const body = JSON.stringify({ id, subjectId, action: row.decision.toLowerCase(), purposes, policyVersion, decidedAt: row.decidedAt.toISOString() })
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'idempotency-key': id }
    try {
      const { status } = await outbound(`${url}/v1/projects/${project}/decisions`, { method: 'POST', headers, body, timeoutMs })
      if (status >= 200 && status < 300) return 'taken'
      log.warn({ decisionId: id, status }, 'decision about cookies refused by the consent service')
      return status >= 400 && status < 500 && !passing.has(status) ? 'invalid' : 'later'
    } catch (error) {
      log.warn({ err: error, decisionId: id }, 'no answer of the consent service')
      return 'later'
    }
  }

  /**
   * Sends decisions of a browser in their order. An invalid one is left out when there is a newer one; any other that was
   * not taken holds the newer ones back until it is repeated, because it may still arrive.
   * @returns whether all decisions were taken, and when the last known one was made
   */
  async function deliverAll(to: ConsentService, { subjectId, decidedAt }: HeldSubject): Promise<{ readonly isDone: boolean; readonly last: Date }> {
    let last = decidedAt
    for (let turn = 0; turn < maxATurn; turn += 1) {
      const [oldest, ...newer] = await store.pending(subjectId)
      if (!oldest) return { isDone: true, last }
      const newest = newer.at(-1) ?? oldest
      if (newest.decidedAt > last) last = newest.decidedAt
      const delivery = await deliver(to, oldest)
      if (delivery === 'taken') await store.mark(oldest.id, 'SYNCED')
      else if (delivery === 'invalid' && newer.length > 0) await store.mark(oldest.id, 'LOCAL')
      else return { isDone: false, last }
    }
    // The rest is due at once.
    return { isDone: true, last: new Date(0) }
  }

  async function turnOf(to: ConsentService, subject: HeldSubject): Promise<void> {
    const { subjectId, attempts: before, failingSince: since } = subject
    const { isDone, last } = await deliverAll(to, subject)
    const now = clock.now()
    const failingSince = since ?? now
    const next = isDone ? null : nextAttempt(before + 1, failingSince, now)
    if (!isDone && next === null) {
      log.error({ subjectId, failingSince }, 'decision about cookies given up: the consent service has not taken it for a week')
      for (const { id } of await store.pending(subjectId)) await store.mark(id, 'LOCAL')
    }
    const end: TurnEnd = next === null ? { attempts: 0, failingSince: null, next } : { attempts: before + 1, failingSince, next }
    await store.release(subjectId, end, last, now)
    if (next) alarm.at(next)
  }

  return {
    firstState: service ? 'PENDING' : 'LOCAL',
    wake: alarm.ring,
    sweep: alarm.sweep({ name: 'decisions about cookies', asksOthers: true }, async () => {
      if (!service) return null
      const now = clock.now()
      const held = await store.take(now, new Date(now.getTime() + holdMs), atOnce)
      const ended = await Promise.allSettled(held.map(subject => turnOf(service, subject)))
      for (const each of ended)
        if (each.status === 'rejected') log.error({ err: each.reason }, 'turn of a browser not recorded; its decisions are sent when its lease ends')
      return held.length === atOnce ? now : null
    }),
  }
}
