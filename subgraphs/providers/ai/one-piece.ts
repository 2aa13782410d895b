import { type AiModel, providerNameOf } from '../engines/models/candidates.ts'
import type { AiCaller, Engine } from '../engines/models/engine.ts'
import type { Bound, Usage } from '../engines/models/prices.ts'
import type { Capability } from '../stores/model/model.ts'
import { AttemptFailure } from './attempt/failure.ts'
import { malformed } from './attempt/upstream.ts'

/** The caller and its options, whatever protocol it used. */
export interface Asking {
  readonly caller: AiCaller
  /** Whether the rest of the chain may answer. */
  readonly fallback: boolean
  /** Whether another image model than the preference may be named. */
  readonly mayOverride: boolean
  /** Whether a model may answer only if it is sent all that the caller said. */
  readonly isStrict: boolean
  /** What each attempt is given, in ms; null: as long as the settings say. */
  readonly attemptMs: number | null
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/** A call whose answer comes in one piece of JSON. */
export interface OnePiece<Answer> {
  readonly capability: Capability
  /** As the log names it. */
  readonly operation: string
  readonly named: string | null
  /** What was asked, for organizations that have it stored. */
  readonly prompt: string | null
  readonly bound: Bound
  /** What it uses at least of a model that was sent it. */
  least(model: AiModel): Usage | Promise<Usage>
  /** Below a provider's base. */
  readonly path: string
  /** What a model is asked. */
  body(model: AiModel): { readonly type: string; readonly body: string | Uint8Array }
  /** What the caller is told where an answer is longer than any may be, and less asked for would help. */
  readonly tooLong?: string
  /** Null: that is not the protocol's. */
  read(json: unknown, model: AiModel): Answer | null | Promise<Answer | null>
  used(answer: Answer): Usage
}

/** A call that was answered, and is written down. */
export interface Made<Answer> {
  readonly answer: Answer
  readonly callId: string
  readonly model: AiModel
  /** Null: the model has no price. */
  readonly costMicros: bigint | null
  readonly attempts: number
  /** What of the request the model was not sent, or not as it was said. */
  readonly dropped: readonly string[]
  /** The headers that describe the answer. */
  readonly headers: Readonly<Record<string, string>>
}

/** Makes such a call. @throws Refusal */
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

/** What every call answers in the graph beside its own. */
export const toldInGraph = ({ callId, model, costMicros, attempts }: Made<unknown>) => ({
  callId,
  provider: providerNameOf(model),
  model: model.name,
  costMicros,
  attempts,
})

export const jsonType = 'application/json'
