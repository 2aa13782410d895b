import { codeOf, type DomainError } from '../../../../platform/errors.ts'
import type { Handler } from '../../../http/handlers.ts'
import { openAiError } from '../../../http/openai-error.ts'
import { problemOf } from '../../../http/problem.ts'
import { attemptHeaders } from '../call.ts'

/** Details of a call's error besides its message. */
interface Told {
  readonly code: string
  readonly reason?: string
  readonly field?: string
  /** Error code of the provider that rejected the request. */
  readonly providerCode?: string
  readonly scopeType?: string
  readonly resetsAt?: string | null
  readonly callId?: string
  readonly attempts?: number
}

/** Builds an error for both kinds of clients: the platform's get a problem document, OpenAI's the `error` in it. */
function aiProblem(request: Request, refusal: DomainError): Response {
  const { code, reason, field, providerCode, scopeType, resetsAt, callId, attempts = 0 } = refusal.extensions as unknown as Told
  const answer = problemOf(request, refusal, [], {
    // Uses REST's spelling of enum values.
    ...(scopeType !== undefined && { scopeType: scopeType.toLowerCase(), resetsAt: resetsAt ?? null }),
    error: openAiError(code, refusal.message, { field, reason: providerCode ?? reason }),
  })
  if (callId !== undefined) for (const [name, value] of Object.entries(attemptHeaders(callId, attempts))) answer.headers.set(name, value)
  return answer
}

/** An exchange whose refusals clients of OpenAI's wire read too. */
export const onWire =
  (exchange: Handler): Handler =>
  async (request, viewer) => {
    try {
      return await exchange(request, viewer)
    } catch (error) {
      if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
      return aiProblem(request, error as DomainError)
    }
  }
