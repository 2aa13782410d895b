import { setTimeout as sleep } from 'node:timers/promises'
import { crash } from '../../../platform/crash.ts'
import { newId } from '../../../platform/ids.ts'
import type { Writing } from '../../store/books.ts'
import { step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { type Grant, GrantFailure, type Network } from '../network/network.ts'
import { type ConnectionRow, disconnected } from '../stores/connection.ts'
import { granting } from './granting.ts'
import { heldWithBrand, withHealth } from './health.ts'
import { believedForMs, isBeingRenewed, mustRenew, type RenewalPace, renewalMs, renewalPace, waitForTokenMs } from './rules.ts'

export interface TokensNeed extends Pick<Job, 'applications' | 'brands' | 'connections' | 'clock' | 'events' | 'publicUrl' | 'renewals'>, Writing {
  /** @default `renewalPace` of the rules */
  readonly pace?: RenewalPace
}

/**
 * Returns a valid access token, renewing it first when it is about to expire or was rejected.
 *
 * Refresh tokens are single use, and a network that sees one twice revokes the whole grant. So a worker claims the
 * renewal in the row, reads the row again (another worker may have been faster), and stores the new tokens before they
 * are used. Nothing is locked while the network works: connecting the account again meanwhile is not delayed, and wins.
 * Heartbeats in the row show that the worker is alive, so a dead one is replaced within seconds, and one with a slow
 * network is not.
 * @param refused the access token that the network has just answered 401 to
 * @throws GrantFailure; when it is permanent the connection has been deactivated
 */
export async function usableToken(need: TokensNeed, network: Network, row: ConnectionRow, refused?: string): Promise<string> {
  const { connections, clock, renewals } = need
  if (refused === undefined && !mustRenew(row.tokenExpiresAt, clock.now())) return connections.open(row).accessToken
  for (let running = renewals.get(row.id); running; running = renewals.get(row.id)) {
    const token = await running
    if (token !== refused) return token
  }
  const renewal = renew(need, network, row, refused).finally(() => renewals.delete(row.id))
  renewals.set(row.id, renewal)
  return renewal
}

/**
 * Returns a valid access token for the holder of a post, whose claim allows only short waits: a slower renewal
 * continues, and its token is there for the next attempt.
 * @throws GrantFailure, temporary, when the wait is over
 */
export async function tokenSoon(need: TokensNeed, network: Network, row: ConnectionRow, refused?: string, waitMs: number = waitForTokenMs): Promise<string> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new GrantFailure('the network takes long to renew the access', false)), waitMs)
  try {
    return await Promise.race([usableToken(need, network, row, refused), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function renew(need: TokensNeed, network: Network, row: ConnectionRow, refused: string | undefined): Promise<string> {
  const { lookEveryMs } = need.pace ?? renewalPace
  // Measures how long this worker has seen the claim unchanged: clocks may disagree, stop or be set back.
  let watched = null as Watched | null
  for (;;) {
    const found = await claim(need, row, refused, watched)
    if (found.claimed) return claimed(need, network, found.claimed)
    if (found.token !== undefined) return found.token
    watched = { claim: found.busy, forMs: watched?.claim === found.busy ? watched.forMs + lookEveryMs : 0 }
    await sleep(lookEveryMs)
  }
}

/** Another worker's claim as of the last check, and how long it has been unchanged, in ms. */
interface Watched {
  readonly claim: string
  readonly forMs: number
}

interface Claimed {
  readonly row: ConnectionRow
  readonly id: string
}

/** An own claim, or the token that another worker has obtained meanwhile, or the claim of a working one. */
type Found = { claimed: Claimed; token?: never } | { token: string; claimed?: never } | { busy: string; claimed?: never; token?: never }

async function claim(job: TokensNeed, { id }: ConnectionRow, refused: string | undefined, watched: Watched | null): Promise<Found> {
  const { connections, pace } = job
  let found = null as Found | null
  const taken = await step(job, {
    of: connections,
    hold: id,
    decide(row, { now }) {
      if (!row.active) return null
      const { accessToken } = connections.open(row)
      const renewedMeanwhile = refused === undefined ? !mustRenew(row.tokenExpiresAt, now) : accessToken !== refused
      const present = `${row.renewalId} ${row.renewalBeats}`
      const isSilent = watched?.claim === present && watched.forMs >= believedForMs(row, pace ?? renewalPace)
      if (renewedMeanwhile) found = { token: accessToken }
      else if (isBeingRenewed(row, now) && !isSilent) found = { busy: present }
      return found ? null : { changes: { renewalId: newId(now), renewalUntil: new Date(now.getTime() + renewalMs), renewalBeats: 1 } }
    },
  })
  if (taken) return { claimed: { row: taken.after, id: taken.after.renewalId! } }
  return found ?? noConnection()
}

function noConnection(): never {
  throw new GrantFailure('The connection is not active any more.', true)
}

/** Runs a claimed renewal, with heartbeats. */
async function claimed(need: TokensNeed, network: Network, { row, id }: Claimed): Promise<string> {
  // A failed heartbeat is followed by the next: a claim survives a few lost ones.
  const beats = setInterval(() => need.connections.beat(row, id).catch(() => {}), (need.pace ?? renewalPace).beatMs)
  try {
    return await refresh(need, network, row, id)
  } finally {
    clearInterval(beats)
  }
}

async function refresh(need: TokensNeed, network: Network, row: ConnectionRow, id: string): Promise<string> {
  crash('before-refresh')
  const tokens = need.connections.open(row)
  let end: Grant | GrantFailure
  let asked = network
  try {
    asked = await granting(need, network, row)
    end = await asked.refresh(tokens)
  } catch (error) {
    if (!(error instanceof GrantFailure && error.permanent)) {
      await need.connections.releaseRenewal(row, id)
      throw error
    }
    end = error
  }
  crash('after-refresh')
  return keep(need, asked, row, id, end)
}

/**
 * Stores the result of a renewal. When the claim is gone, the account was connected again or another worker took over:
 * then their result is kept.
 */
async function keep(job: TokensNeed, network: Network, row: ConnectionRow, id: string, end: Grant | GrantFailure): Promise<string> {
  const { connections } = job
  let present = null as string | null
  const kept = await step(job, {
    ...heldWithBrand(job, row),
    decide(held, { now }) {
      if (!held.active) return null
      if (held.renewalId !== id) {
        present = connections.open(held).accessToken
        return null
      }
      if (end instanceof GrantFailure) return { changes: disconnected(`${end.message}: connect the account again.`), isNews: true }
      const changes = withHealth(held, { ...connections.sealed(held.id, end, now), lastCheckedAt: now }, now)
      return { changes, isNews: changes.health !== held.health }
    },
    audit: ({ after }) =>
      end instanceof GrantFailure ? { tenantId: after.brandId, action: 'connection.deactivated', subjectId: after.id, details: { reason: end.message } } : null,
  })
  if (!kept && present === null && !(end instanceof GrantFailure)) {
    // The connection was disconnected meanwhile, so the new token is dropped.
    await network.revoke?.(end).catch(() => {})
  }
  if (!kept) return present ?? noConnection()
  if (end instanceof GrantFailure) throw end
  return end.accessToken
}
