import type { ExecutionResult } from 'graphql'
import type { ErrorCode } from '../../platform/errors.ts'

// biome-ignore lint/suspicious/noExplicitAny: data has the shape of its document, which each test writes out
export type Data = Record<string, any>

/** An error of an answer, as clients get it. */
export interface AnswerError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string }
}

/** What an operation answered, in the form in which a client would have it. */
export interface Answer {
  /** The data; throws with operation, variables, errors and request id when there were errors. */
  data(): Data
  /** The error of an operation that was refused with this code: every root field is null. Throws when it was not. */
  refused(code: ErrorCode | 'UNAUTHORIZED_FIELD_OR_TYPE'): AnswerError
  /** The first error, and its code; undefined when there is none. */
  readonly error: AnswerError | undefined
  readonly code: string | undefined
  /** Data and errors together, for answers that have both. */
  readonly partial: { readonly data: Data | null; readonly errors: readonly AnswerError[] }
}

export interface Asked {
  readonly text: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly as: string
  readonly requestId: string
}

/** Reads a result as a client would: through JSON. */
export function readAnswer(result: ExecutionResult, { text, variables, as, requestId }: Asked): Answer {
  const { data = null, errors = [] } = JSON.parse(JSON.stringify(result)) as { data?: Data | null; errors?: AnswerError[] }
  const wrong = (what: string): Error =>
    new Error(
      `${what}\n${text.trim()}\nvariables ${JSON.stringify(variables)}\nas ${as}, request ${requestId}\nanswered ${JSON.stringify({ data, errors }, null, 2)}`,
    )
  return {
    error: errors[0],
    code: errors[0]?.extensions.code,
    partial: { data, errors },
    data() {
      if (errors.length > 0 || data === null) throw wrong('An operation was refused:')
      return data
    },
    refused(code) {
      const [error] = errors
      if (!error) throw wrong(`An operation was to be refused with ${code}, and was not:`)
      if (error.extensions.code !== code) throw wrong(`An operation was to be refused with ${code}:`)
      if (data && Object.values(data).some(value => value !== null)) throw wrong(`An operation was refused with ${code}, and answered data all the same:`)
      return error
    },
  }
}
