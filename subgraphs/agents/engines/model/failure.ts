import { codeOf } from '../../../../platform/errors.ts'
import type { CallFailure } from '../run/interpret.ts'

/** No model answered, and why: what a step that asked one ends with. */
export class ModelFailure extends Error {
  readonly failure: CallFailure
  constructor(failure: CallFailure, cause?: unknown) {
    super(failure.message, { cause })
    this.name = 'ModelFailure'
    this.failure = failure
  }
}

const final = (code: CallFailure['code'], message: string): CallFailure => ({ hadNoEffect: true, isFinal: true, code, message })

export const noModel = (message = 'The agent has no model: give it one, or `default`.'): CallFailure => final('NO_MODEL', message)

/**
 * Reads why providers did not answer.
 * @param error    anything with GraphQL's `extensions`, or a failure of the way there
 * @param isOver   whether the time of the call was up
 */
export function failureOf(error: unknown, isOver: boolean): CallFailure {
  if (error instanceof ModelFailure) return error.failure
  if (isOver) return { hadNoEffect: false, code: 'STEP_TIMEOUT', message: 'The model has not answered in time.' }
  const message = error instanceof Error ? error.message : 'The model did not answer.'
  const code = codeOf(error)
  if (code === 'BUDGET_EXCEEDED') return final('BUDGET_EXCEEDED', message)
  if (code === 'NOT_FOUND' || code === 'BAD_USER_INPUT') return noModel(message)
  if (code === 'FORBIDDEN' || code === 'UNAUTHENTICATED') return final('NOT_PERMITTED', message)
  if (code !== 'RATE_LIMITED') return { hadNoEffect: false, code: 'UPSTREAM_FAILED', message }
  const { retryAfter } = (error as { readonly extensions: { readonly retryAfter?: number } }).extensions
  return { hadNoEffect: true, code: 'UPSTREAM_FAILED', message, ...(retryAfter !== undefined && { retryAfterMs: retryAfter * 1_000 }) }
}
