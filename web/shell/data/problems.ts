import type { CombinedError } from 'urql'
import { say } from '../words.ts'

/** What a person is told of something that failed. */
export interface Problem {
  readonly sentence: string
  readonly code: string | null
  readonly reason: string | null
  /** The field of a form that it is about. */
  readonly field: string | null
  /** By which the platform's log finds it. */
  readonly requestId: string | null
  /** What else the graph said of it, by name: ids of posts that are in the way, for example. */
  readonly details?: Readonly<Record<string, unknown>>
}

const spoken = new Set([
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'RATE_LIMITED',
  'BUDGET_EXCEEDED',
  'UPSTREAM_FAILED',
  'INTERNAL_SERVER_ERROR',
  'UNAUTHORIZED_FIELD_OR_TYPE',
])
/** Codes whose own message is written for the person who caused it. */
const ownWords = new Set(['BAD_USER_INPUT', 'CONFLICT', 'BUDGET_EXCEEDED'])

/** Says what went wrong in words of the person's task. @param error of urql, or the errors of one answer */
export function problemOf(error: CombinedError | undefined): Problem | null {
  if (!error) return null
  const [first] = error.graphQLErrors
  if (!first) return { sentence: say(navigator.onLine ? 'problem.network' : 'problem.offline'), code: null, reason: null, field: null, requestId: null }
  const { code, reason, field, requestId } = first.extensions as Record<string, string | undefined>
  const sentence = code && ownWords.has(code) ? first.message : say(code && spoken.has(code) ? `problem.${code}` : 'problem.INTERNAL_SERVER_ERROR')
  return { sentence, code: code ?? null, reason: reason ?? null, field: field ?? null, requestId: requestId ?? null, details: first.extensions }
}
