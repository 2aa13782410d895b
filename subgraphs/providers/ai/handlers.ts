import { DomainError } from '../../../platform/errors.ts'
import type { Handlers } from '../../http/handlers.ts'
import { openAiError } from '../../http/openai-error.ts'
import { problemOf } from '../../http/problem.ts'

/** Handlers of OpenAI's protocol, below `/providers/api/ai`. */
export const aiHandlers: Handlers = {
  '* /providers/api/ai/**': async request => {
    const refusal = new DomainError('NOT_FOUND', `There is nothing at ${request.method} ${new URL(request.url).pathname.slice(0, 200)}.`)
    return problemOf(request, refusal, [], { error: openAiError('NOT_FOUND', refusal.message) })
  },
}
