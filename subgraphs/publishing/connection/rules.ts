import type { Platform, Target } from '../network/network.ts'
import { isChosen, type WithPlaces } from './places.ts'

/** What choosing needs to know of a connection. */
export interface Candidate extends WithPlaces {
  readonly id: string
  readonly authorId: string
  readonly connectedAt: Date
}

/**
 * The connection that a post goes out by: of the brand's active ones on that network, for a post with a target only of those that
 * have it chosen, the author's own first; of several the latest authorized, then the smaller id, so that two workers choose the same.
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

/** How long before its end an access token is renewed, in ms: longer than a delivery takes. */
export const renewBeforeMs = 60_000

/** How long one worker may renew a token before another takes over, in ms: asking the network takes at most 30 s. */
export const renewalMs = 35_000

/** How a worker that renews a token shows that it lives, and how others see that it does not. */
export interface RenewalPace {
  /** How often it counts a beat into the row, in ms. */
  readonly beatMs: number
  /**
   * For how long others must have seen no beat before they take over, in ms: a few beats, so that one the database was slow to take
   * is no death; and less than anybody waits for a token.
   */
  readonly silentMs: number
  /** How often they look, in ms. */
  readonly lookEveryMs: number
}

export const renewalPace: RenewalPace = { beatMs: 1_500, silentMs: 6_000, lookEveryMs: 250 }

/** For how long a claim must stand still before its worker is believed dead, in ms. One without a beat is of a program that counts none. */
export const believedForMs = ({ renewalBeats }: { renewalBeats: number }, { silentMs }: RenewalPace): number => (renewalBeats > 0 ? silentMs : renewalMs)

/** How long somebody who holds a post waits for a renewal, in ms; it goes on without them. */
export const waitForTokenMs = 8_000

/** Whether somebody renews the token at this moment. An end that lies farther away than any claim's was written by a clock that was set back since. */
export const isBeingRenewed = ({ renewalUntil }: { renewalUntil: Date | null }, now: Date): boolean =>
  renewalUntil !== null && renewalUntil > now && renewalUntil.getTime() - now.getTime() <= renewalMs

/** Whether the token was brought a moment ago: a network that gives short ones has no longer one. */
export const isJustRenewed = ({ renewedAt }: { renewedAt: Date | null }, now: Date): boolean =>
  renewedAt !== null && Math.abs(now.getTime() - renewedAt.getTime()) < renewBeforeMs / 2

/** Whether the token must be renewed before it is used. A network that names no lifetime is asked only after a 401. */
export const mustRenew = (tokenExpiresAt: Date | null, now: Date): boolean =>
  tokenExpiresAt !== null && tokenExpiresAt.getTime() - now.getTime() < renewBeforeMs
