import { isRefusedAddress, OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Json } from '../../stores/workflow.ts'
import type { CallEnd, CallFailure } from '../run/interpret.ts'

/** A connector answered a request with an HTTP status other than 2xx. */
export class BadStatus extends Error {
  readonly status: number
  /** When the connector wants the request again, in ms. */
  readonly retryAfterMs: number | undefined
  constructor(status: number, retryAfterMs?: number) {
    super(`the connector answered with status ${status}`)
    this.name = 'BadStatus'
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** A connector said that it does not execute this call. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

/** How far a call had got when it failed. */
export interface Progress {
  /** Whether the request that executes the tool was begun. */
  readonly isSent: boolean
  /** Whether its time was over, and how long that was, in seconds. */
  readonly isLate: boolean
  readonly seconds: number
}

const maxMessage = 500
const cut = (text: string): string => (text.length > maxMessage ? `${text.slice(0, maxMessage - 1)}…` : text).replaceAll('\0', '').toWellFormed()

/** Decides what a failed call of a tool means: whether it certainly had no effect, and whether repeating it is useless. */
export function callFailure(error: unknown, { isSent, isLate, seconds }: Progress): CallFailure {
  if (error instanceof ToolError) return { hadNoEffect: false, isFinal: true, code: 'TOOL_ERROR', message: cut(error.message) }
  if (error instanceof BadStatus) return ofStatus(error, isSent)
  if (isRefusedAddress(error))
    return { hadNoEffect: true, isFinal: true, code: 'UPSTREAM_FAILED', message: 'The connector leads to a private address, which is not called.' }
  const isUnsent = !isSent || (error instanceof OutboundFailure && !error.sent)
  if (isLate || (error instanceof OutboundFailure && error.kind === 'late'))
    return { hadNoEffect: isUnsent, code: 'STEP_TIMEOUT', message: `The connector did not answer within ${seconds} s.` }
  const message = error instanceof OutboundFailure ? 'The connection to the connector failed.' : 'The connector’s answer is malformed.'
  return { hadNoEffect: isUnsent, code: 'UPSTREAM_FAILED', message }
}

function ofStatus({ status, retryAfterMs }: BadStatus, isSent: boolean): CallFailure {
  const message = `The connector answered with status ${status}.`
  if (status === 429 || status === 503) return { hadNoEffect: true, code: 'UPSTREAM_FAILED', message, retryAfterMs }
  if (status >= 400 && status < 500) return { hadNoEffect: true, isFinal: true, code: 'TOOL_ERROR', message }
  return { hadNoEffect: !isSent, code: 'UPSTREAM_FAILED', message }
}

/** Shorter texts may be part of anything. */
const minSecret = 8

/**
 * The end of a call without the connector's secrets, which some servers repeat: whoever may see a run sees what its tools answered.
 * @param secrets values of the headers that the connector is called with, of which each word counts by itself
 */
export function withoutSecrets(end: CallEnd, secrets: readonly string[]): CallEnd {
  const hidden = secrets.flatMap(value => [value, ...value.split(/\s+/)]).filter(part => part.length >= minSecret)
  const without = (json: string) => hidden.reduce((text, part) => text.replaceAll(JSON.stringify(part).slice(1, -1), '[hidden]'), json)
  if (hidden.length === 0 || end === 'interrupted' || 'round' in end) return end
  if ('answer' in end) return { ...end, answer: JSON.parse(without(JSON.stringify(end.answer))) as Json }
  return { failure: { ...end.failure, message: JSON.parse(without(JSON.stringify(end.failure.message))) as string } }
}
