import { DomainError } from '../../../../platform/errors.ts'

/** Window in which key rotations are counted, in ms: as long as a retired key is published. */
export const turnsCounted = 24 * 3_600_000

/** Maximum number of keys created within the window, so that the published list stays short. */
export const mostTurns = 20

/** Rejects excessive rotations. @throws RATE_LIMITED */
export function requireFewTurns(turns: number): void {
  if (turns < mostTurns) return
  throw new DomainError('RATE_LIMITED', `There were ${turns} new signing keys in a day: turn to the next one tomorrow, or distrust those of today.`, {
    retryAfter: 3600,
  })
}
