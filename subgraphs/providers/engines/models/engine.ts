import type { Clock } from '../../../../platform/clock.ts'
import type { StreamBody, StreamedAnswer, StreamOutbound } from '../../../../platform/outbound/stream.ts'
import type { ClientDirectory } from '../../stores/administration/clients.ts'
import type { PlatformOrganization } from '../../stores/credential/platform.ts'
import type { Capability } from '../../stores/model/model.ts'
import type { CredentialInUse } from '../third-party/credentials.ts'
import type { AiModel } from './candidates.ts'
import type { Bound, Usage } from './prices.ts'

// The dependencies of every call to a model.

/** A model with its provider. */
export interface Candidate {
  /** Full name: `openai/gpt-5-mini`. */
  readonly name: string
  readonly provider: string
}

/** One attempt, as stored with the call. */
export interface Attempt {
  readonly provider: string
  readonly model: string
  /** HTTP status; null without an answer. */
  readonly status: number | null
  /** Reason of the failure; null for a success. */
  readonly failure: string | null
  readonly latencyMs: number
  /** Cost, as in `CallAttempt`. */
  readonly costMicros?: string | null
}

/** A request to a provider. */
export interface Question {
  /** Path below the base address: `/chat/completions`, `/v1/messages`. */
  readonly path: string
  readonly body: StreamBody
  readonly headers: Readonly<Record<string, string>>
  /** Accepted media type of the answer: `application/json`, `text/event-stream`. */
  readonly type: string | readonly string[]
}

/** Time limits and cancellation of one call. */
export interface CallTiming {
  /** When the call's time ends, in milliseconds of `performance.now()`. */
  readonly endsAt: number
  /** The caller's time limit of one attempt; null for the configured one. */
  readonly attemptMs: number | null
  readonly signal: AbortSignal
}

export interface Upstream {
  /**
   * Calls a candidate, and returns a successful answer: status 2xx, of the accepted type.
   * @throws AttemptFailure for anything else, OutboundFailure of kind `left` when the caller has left
   */
  ask(candidate: Candidate, credential: CredentialInUse, secret: string, question: Question, timing: CallTiming): Promise<StreamedAnswer>
  /** Calls a candidate, and returns the JSON of its answer. */
  askJson(candidate: Candidate, credential: CredentialInUse, secret: string, question: Omit<Question, 'type'>, timing: CallTiming): Promise<JsonAnswer>
}

export interface JsonAnswer {
  readonly headers: Headers
  readonly json: Readonly<Record<string, unknown>>
}

/** The account of a call. */
export interface AiCaller {
  readonly organizationId: string
  readonly userId: string | null
  readonly appId: string
}

/** A call to a model of any capability. */
export interface AiCall<Answer> {
  readonly caller: AiCaller
  readonly capability: Capability
  /** Name in the log: `chat.completions`. */
  readonly operation: string
  /** Requested model; null for the preferred one. */
  readonly named: string | null
  /** Whether the rest of the chain may answer. */
  readonly fallback: boolean
  /** Whether another image model than the preferred one may be named. */
  readonly mayOverride: boolean
  /** Whether a model may answer only if it supports the whole request. */
  readonly isStrict: boolean
  /** Returns the members of the request that a model does not support, by the caller's names. @default none */
  dropped?(model: AiModel): readonly string[]
  /** Prompt, for organizations that store prompts: read at most once, and not kept. */
  readonly prompt: string | null | (() => string)
  /**
   * Returns the maximum usage of a model.
   * @param isLimited whether a hard limit applies: without one a model without a maximum may write as much as it likes
   */
  bound(model: AiModel, isLimited: boolean): Bound
  /** The least usage of a request that was sent and not answered. */
  least(model: AiModel): Usage | Promise<Usage>
  /**
   * Calls one model, once.
   * @param isLimited whether a hard limit applies: then the output must stay within the bound
   * @throws AttemptFailure, or OutboundFailure
   */
  attempt(model: AiModel, credential: CredentialInUse, secret: string, timing: CallTiming, isLimited: boolean): Promise<Answer>
  /** The caller's time limit of each attempt in ms; null for the configured one. */
  readonly attemptMs: number | null
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/** An answered call that is not stored yet: it ends with the first of `succeeded`, `failed` and `left`. */
export interface Answered<Answer> {
  readonly answer: Answer
  readonly model: AiModel
  readonly callId: string
  readonly attempts: readonly Attempt[]
  /** Members of the request that the model did not receive as sent. */
  readonly dropped: readonly string[]
  /** Headers for the answer: call id, attempts, provider and model, dropped members, and `Sunset`. */
  readonly headers: Readonly<Record<string, string>>
  /** Reports that all of it was delivered. @returns the cost; null without a price */
  succeeded(usage: Usage): Promise<bigint | null>
  /** Reports that it broke off: the produced part is charged. */
  failed(usage: Usage | null): Promise<void>
  /** Reports that the caller left: the produced part is charged. */
  left(usage: Usage | null): Promise<void>
}

/**
 * Makes a call: selects candidates, reserves the possible cost, tries them, and stores the result at the end.
 * @throws DomainError, whose details contain `callId` and `attempts` if the call is logged
 */
export type MakeCall = <Answer>(call: AiCall<Answer>) => Promise<Answered<Answer>>

/** Counts the tokens of a text for an organization, by a tokenizer. It never throws. */
export type CountTokens = (organizationId: string, encoding: Encoding, sample: Sample) => Promise<number>

/** Tokenizers of OpenAI's models; other vendors do not publish theirs, which are similar to the newer one. */
export type Encoding = 'o200k_base' | 'cl100k_base'

/** The part of a text that is needed to estimate its tokens. */
export interface Sample {
  readonly text: string
  /** Ratio of the whole length to the sample's: 1 for a whole text. */
  readonly times: number
}

/** Dependencies of calls. */
export interface Engine {
  readonly makeCall: MakeCall
  readonly upstream: Upstream
  readonly count: CountTokens
}

/** Dependencies of model calls, with the limits of callers. */
export interface Ai extends Engine {
  readonly clock: Clock
  readonly clients: ClientDirectory
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
  /** Outbound client for addresses that a caller names. */
  readonly stream: StreamOutbound
}
