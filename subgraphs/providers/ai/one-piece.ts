import { type AiModel, providerNameOf } from '../engines/models/candidates.ts'
import type { AiCaller, Engine } from '../engines/models/engine.ts'
import type { Bound, Usage } from '../engines/models/prices.ts'
import type { Capability } from '../stores/model/model.ts'
import { AttemptFailure } from './attempt/failure.ts'
import { malformed } from './attempt/upstream.ts'

/** The caller and its options, over all protocols. */
export interface Asking {
  readonly caller: AiCaller
  /** Whether the rest of the chain may answer. */
  readonly fallback: boolean
  /** Whether the caller may name another image model than the preferred one. */
  readonly mayOverride: boolean
  /** Whether a model may answer only if it supports the whole request. */
  readonly isStrict: boolean
  /** Time limit of each attempt in ms; null for the configured one. */
  readonly attemptMs: number | null
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/** A call whose answer is a single JSON document. */
export interface OnePiece<Answer> {
  readonly capability: Capability
  /** Name in the log. */
  readonly operation: string
  readonly named: string | null
  /** Prompt, for organizations that store prompts. */
  readonly prompt: string | null
  readonly bound: Bound
  /** Returns the minimum usage of a model that accepted the request. */
  least(model: AiModel): Usage | Promise<Usage>
  /** Path below a provider's base address. */
  readonly path: string
  /** Builds the request for a model. */
  body(model: AiModel): { readonly type: string; readonly body: string | Uint8Array }
  /** Error message where an answer is too long, and a smaller request would help. */
  readonly tooLong?: string
  /** Reads the answer; null for a protocol violation. */
  read(json: unknown, model: AiModel): Answer | null | Promise<Answer | null>
  used(answer: Answer): Usage
}

/** A call that was answered, and is written down. */
export interface Made<Answer> {
  readonly answer: Answer
  readonly callId: string
  readonly model: AiModel
  /** Cost; null when the model has no price. */
  readonly costMicros: bigint | null
  readonly attempts: number
  /** Members of the request that the model did not receive as sent. */
  readonly dropped: readonly string[]
  /** The headers that describe the answer. */
  readonly headers: Readonly<Record<string, string>>
}

/** Makes such a call. @throws DomainError */
export async function makeInOnePiece<Answer>({ makeCall, upstream }: Engine, asking: Asking, piece: OnePiece<Answer>): Promise<Made<Answer>> {
  const { capability, operation, named, prompt, bound, least, path, body, tooLong, read, used } = piece
  const made = await makeCall<Answer>({
    ...asking,
    ...{ capability, operation, named, prompt },
    bound: () => bound,
    least,
    async attempt(model, credential, secret, timing) {
      const { type, body: written } = body(model)
      const question = { path, body: written, headers: { 'content-type': type } }
      const { json } = await upstream.askJson(model, credential, secret, question, timing).catch((error: unknown) => {
        const isTooLong = tooLong !== undefined && error instanceof AttemptFailure && error.failure === 'too_large'
        throw isTooLong ? new AttemptFailure('bad_request', error.status, tooLong) : error
      })
      const answer = await read(json, model)
      // An error inside a 200 answer arrives here too.
      if (answer === null) throw malformed(200)
      return answer
    },
  })
  const costMicros = await made.succeeded(used(made.answer))
  return {
    ...{ answer: made.answer, callId: made.callId, model: made.model, costMicros, attempts: made.attempts.length, dropped: made.dropped },
    headers: { ...made.headers, ...(costMicros !== null && { 'x-gateway-cost-micros': String(costMicros) }) },
  }
}

/** Fields that every call answers in the graph besides its own. */
export const shownInGraph = ({ callId, model, costMicros, attempts }: Made<unknown>) => ({
  callId,
  provider: providerNameOf(model),
  model: model.name,
  costMicros,
  attempts,
})

export const jsonType = 'application/json'
