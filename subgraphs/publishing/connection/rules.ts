import type { Platform } from '../network/network.ts'
import type { Target } from '../network/publication.ts'
import { isChosen, type WithPlaces } from './places.ts'

/** A connection's fields that the choice depends on. */
export interface Candidate extends WithPlaces {
  readonly id: string
  readonly authorId: string
  readonly connectedAt: Date
}

/**
 * Chooses the connection for a post: an active one of the brand on that network, with the post's target selected; the
 * author's own first, then the latest authorized, then the smaller id, so that two workers choose the same.
 * @returns null when the brand has no such connection
 */
export function chooseConnection<C extends Candidate>(
  connections: readonly C[],
  platform: Platform,
  authorId: string | null,
  target: Pick<Target, 'kind' | 'externalId'> | null = null,
): C | null {
  const usable = connections.filter(connection => connection.active && connection.platform === platform && isChosen(connection, target))
  const ranked = usable.toSorted(
    (a, b) => Number(b.authorId === authorId) - Number(a.authorId === authorId) || b.connectedAt.getTime() - a.connectedAt.getTime() || (a.id < b.id ? -1 : 1),
  )
  return ranked[0] ?? null
}

/** Time in ms before its expiry at which an access token is renewed: longer than a delivery takes. */
export const renewBeforeMs = 60_000

/** Time in ms after which another worker may take over a renewal: calling the network takes at most 30 s. */
export const renewalMs = 35_000

/** How a renewing worker shows that it is alive, and how others detect that it is not. */
export interface RenewalPace {
  /** Interval in ms of the heartbeats in the row. */
  readonly beatMs: number
  /**
   * Time in ms without a heartbeat after which others take over: a few beats, because the database may store one late,
   * and less than anyone waits for a token.
   */
  readonly silentMs: number
  /** Interval in ms at which others check. */
  readonly lookEveryMs: number
}

export const renewalPace: RenewalPace = { beatMs: 1_500, silentMs: 6_000, lookEveryMs: 250 }

/**
 * Returns for how long a claim must stand still before its worker counts as dead, in ms. A claim without heartbeats
 * belongs to an earlier version of the program.
 */
export const believedForMs = ({ renewalBeats }: { renewalBeats: number }, { silentMs }: RenewalPace): number => (renewalBeats > 0 ? silentMs : renewalMs)

/** Time in ms that the holder of a post waits for a renewal, which continues afterwards. */
export const waitForTokenMs = 8_000

/** Maximum distance of the end of a claim, in ms: the longest claim, and a minute for clocks and workers that differ. */
const farthestRenewalMs = renewalMs + 60_000

/**
 * Whether the token is being renewed at this moment: another worker may have read the clock a little later. An end
 * farther away than any claim's was written before a clock was set back.
 */
export const isBeingRenewed = ({ renewalUntil }: { renewalUntil: Date | null }, now: Date): boolean =>
  renewalUntil !== null && renewalUntil > now && renewalUntil.getTime() - now.getTime() <= farthestRenewalMs

/** Whether the token was renewed a moment ago: then a network with short lifetimes has no longer one. */
export const isJustRenewed = ({ renewedAt }: { renewedAt: Date | null }, now: Date): boolean =>
  renewedAt !== null && Math.abs(now.getTime() - renewedAt.getTime()) < renewBeforeMs / 2

/** Whether the token must be renewed before use. A token without a known lifetime is renewed only after a 401. */
export const mustRenew = (tokenExpiresAt: Date | null, now: Date): boolean =>
  tokenExpiresAt !== null && tokenExpiresAt.getTime() - now.getTime() < renewBeforeMs
