import type { ServiceOperation } from '../../../scopes.ts'
import { type Asked, callerOf, requireOperation } from '../../administration/caller.ts'
import type { Asking } from '../one-piece.ts'
import { wrong } from './fields.ts'

/** What an attempt may be given, in ms. */
const timeout = { least: 500, most: 600_000 } as const

/** How a call is to be made, as far as whoever asks says it. */
export interface Manner {
  /** Whether the rest of the chain may answer. @default true */
  readonly fallback?: boolean | null | undefined
  /** Whether a model may answer only if it is sent all that the caller said. @default false */
  readonly strict?: boolean
  /** What each attempt is given, in ms. @default as long as the settings say */
  readonly attemptMs?: number | null
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/**
 * Who asks, and how: for whichever door.
 * @throws FORBIDDEN for a service without the operation and for whom no organization is active, BAD_USER_INPUT for an app that nobody knows
 */
export async function askingOf(asked: Asked, operation: ServiceOperation, { fallback, strict, attemptMs, signal }: Manner): Promise<Asking> {
  await requireOperation(asked, operation)
  return {
    caller: await callerOf(asked),
    fallback: fallback ?? true,
    mayOverride: asked.viewer.scopes.includes('providers:org.admin'),
    isStrict: strict ?? false,
    attemptMs: attemptMs ?? null,
    signal,
  }
}

/**
 * How a request says it: `X-Gateway-Fallback: off` pins the model, `X-Gateway-Timeout-Ms` shortens each attempt, `X-Gateway-Strict: true`, or
 * `?strict=true`, refuses what a model cannot be sent. @throws BAD_USER_INPUT
 */
export function mannerOf({ headers, signal, url }: Pick<Request, 'headers' | 'signal' | 'url'>): Manner {
  const fallback = headers.get('x-gateway-fallback')?.toLowerCase() ?? 'on'
  if (fallback !== 'on' && fallback !== 'off') wrong('X-Gateway-Fallback', 'X-Gateway-Fallback is off, or is left out.')
  const strict = headers.get('x-gateway-strict') ?? new URL(url).searchParams.get('strict') ?? 'false'
  if (strict !== 'true' && strict !== 'false') wrong('X-Gateway-Strict', 'X-Gateway-Strict, or strict in the query, is true, or is left out.')
  const given = headers.get('x-gateway-timeout-ms')
  const attemptMs = given === null ? null : Number(given)
  if (attemptMs !== null && !(Number.isInteger(attemptMs) && attemptMs >= timeout.least && attemptMs <= timeout.most))
    wrong('X-Gateway-Timeout-Ms', `X-Gateway-Timeout-Ms must be a whole number of milliseconds from ${timeout.least} to ${timeout.most}.`)
  return { fallback: fallback === 'on', strict: strict === 'true', attemptMs, signal }
}
