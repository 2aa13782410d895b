import type { ServiceOperation } from '../../../scopes.ts'
import { type Asked, callerOf, requireOperation } from '../../administration/caller.ts'
import type { Asking } from '../one-piece.ts'
import { wrong } from './fields.ts'

/** Limits of an attempt's time, in ms. */
const timeout = { least: 500, most: 600_000 } as const

/** The caller's options of a call. */
export interface Manner {
  /** Whether the rest of the chain may answer. @default true */
  readonly fallback?: boolean | null | undefined
  /** Whether a model may answer only if it supports the whole request. @default false */
  readonly strict?: boolean
  /** Time limit of each attempt in ms. @default the configured one */
  readonly attemptMs?: number | null
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/**
 * Returns the caller with its options, over all protocols.
 * @throws FORBIDDEN for a service without the operation and without an active organization, BAD_USER_INPUT for an
 * unknown app
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
 * Reads the options of a request: `X-Gateway-Fallback: off` pins the model, `X-Gateway-Timeout-Ms` shortens each
 * attempt, `X-Gateway-Strict: true`, or `?strict=true`, rejects what a model does not support. @throws BAD_USER_INPUT
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
