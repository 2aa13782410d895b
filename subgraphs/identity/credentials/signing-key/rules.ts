import { Refusal } from '../../../../platform/errors.ts'

/** In which time turns are counted, in ms: for as long a retired key is published. */
export const turnsCounted = 24 * 3_600_000

/** How many keys are made within it, so that what everybody reads stays short. */
export const mostTurns = 20

/** Refuses more turns than anybody needs. @throws RATE_LIMITED */
export function requireFewTurns(turns: number): void {
  if (turns < mostTurns) return
  throw new Refusal('RATE_LIMITED', `There were ${turns} new signing keys in a day: turn to the next one tomorrow, or distrust those of today.`, {
    retryAfter: 3600,
  })
}
