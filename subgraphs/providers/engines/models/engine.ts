import type { Clock } from '../../../../platform/clock.ts'
import type { StreamBody, StreamedAnswer, StreamOutbound } from '../../../../platform/outbound/stream.ts'
import type { ClientDirectory } from '../../stores/administration/clients.ts'
import type { PlatformOrganization } from '../../stores/credential/platform.ts'
import type { Capability } from '../../stores/model/model.ts'
import type { CredentialInUse } from '../third-party/credentials.ts'
import type { AiModel } from './candidates.ts'
import type { Bound, Usage } from './prices.ts'

// What calls to models are made with, as everybody knows it who makes one.

/** Who may answer a call. */
export interface Candidate {
  /** `openai/gpt-5-mini`. */
  readonly name: string
  readonly provider: string
}

/** One attempt, as the record of the call keeps it. */
export interface Attempt {
  readonly provider: string
  readonly model: string
  /** HTTP status; null where none came. */
  readonly status: number | null
  /** Null where it was answered. */
  readonly failure: string | null
  readonly latencyMs: number
  /** As `CallAttempt` of the record has it. */
  readonly costMicros?: string | null
}

/** A request to a provider. */
export interface Question {
  /** Below its base: `/chat/completions`, `/v1/messages`. */
  readonly path: string
  readonly body: StreamBody
  readonly headers: Readonly<Record<string, string>>
  /** What the answer must say that it is: `application/json`, `text/event-stream`. */
  readonly type: string | readonly string[]
}

/** One call's time and leaving. */
export interface CallTiming {
  /** When the call has used its time up: milliseconds of `performance.now()`. */
  readonly endsAt: number
  /** What the caller gives one attempt; null: as long as the settings say. */
  readonly attemptMs: number | null
  readonly signal: AbortSignal
}

export interface Upstream {
  /**
   * Asks a candidate, and hands over an answer that began well: status 2xx, of the type that was wanted.
   * @throws AttemptFailure for anything else, OutboundFailure of kind `left` when nobody waits any more
   */
  ask(candidate: Candidate, credential: CredentialInUse, secret: string, question: Question, timing: CallTiming): Promise<StreamedAnswer>
  /** The same, and the whole of its JSON. */
  askJson(candidate: Candidate, credential: CredentialInUse, secret: string, question: Omit<Question, 'type'>, timing: CallTiming): Promise<JsonAnswer>
}

export interface JsonAnswer {
  readonly headers: Headers
  readonly json: Readonly<Record<string, unknown>>
}

/** On whose account a call is made. */
export interface AiCaller {
  readonly organizationId: string
  readonly userId: string | null
  readonly appId: string
}

/** A call to a model, whatever it is for. */
export interface AiCall<Answer> {
  readonly caller: AiCaller
  readonly capability: Capability
  /** As the log names it: `chat.completions`. */
  readonly operation: string
  /** The model that is asked for; null: the preference. */
  readonly named: string | null
  /** Whether the rest of the chain may answer. */
  readonly fallback: boolean
  /** Whether another image model than the preference may be named. */
  readonly mayOverride: boolean
  /** Whether a model may answer only if it is sent all that the caller said. */
  readonly isStrict: boolean
  /** What of the request a model cannot be sent, by the caller's names. @default nothing */
  dropped?(model: AiModel): readonly string[]
  /** What was asked, for organizations that have it stored: read at most once, and not kept. */
  readonly prompt: string | null | (() => string)
  /**
   * At most how much a model may be made to do.
   * @param isLimited whether a hard limit applies: without one a model that nobody bounds may write as much as it likes
   */
  bound(model: AiModel, isLimited: boolean): Bound
  /** The least usage of a request that was sent and not answered. */
  least(model: AiModel): Usage | Promise<Usage>
  /**
   * Asks one model, once.
   * @param isLimited whether a hard limit applies: then what is produced must stay within the bound
   * @throws AttemptFailure, or OutboundFailure
   */
  attempt(model: AiModel, credential: CredentialInUse, secret: string, timing: CallTiming, isLimited: boolean): Promise<Answer>
  /** What the caller gives each attempt, in ms; null: as long as the settings say. */
  readonly attemptMs: number | null
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/** A call that is answered, and not yet written down: it ends with `succeeded`, `failed` or `left`, whichever comes first. */
export interface Answered<Answer> {
  readonly answer: Answer
  readonly model: AiModel
  readonly callId: string
  readonly attempts: readonly Attempt[]
  /** What of the request the model was not sent, or not as it was said. */
  readonly dropped: readonly string[]
  /** For whoever tells it: call id, attempts, provider and model, what was not sent to it, and `Sunset`. */
  readonly headers: Readonly<Record<string, string>>
  /** All of it was delivered. @returns what it cost; null: it has no price */
  succeeded(usage: Usage): Promise<bigint | null>
  /** It broke off: what was produced is paid for. */
  failed(usage: Usage | null): Promise<void>
  /** Whoever asked went away: what was produced is paid for. */
  left(usage: Usage | null): Promise<void>
}

/**
 * Makes a call: who may answer is found, what it may cost is held back, candidates are tried, and in the end what became of it is written down.
 * @throws Refusal, whose details hold `callId` and `attempts` where there is a record of it
 */
export type MakeCall = <Answer>(call: AiCall<Answer>) => Promise<Answered<Answer>>

/** Counts the tokens of a text for an organization, as models of an encoding cut it. It never throws. */
export type CountTokens = (organizationId: string, encoding: Encoding, sample: Sample) => Promise<number>

/** How OpenAI's models cut text into tokens; other vendors keep their ways to themselves, and are near to the newer one. */
export type Encoding = 'o200k_base' | 'cl100k_base'

/** As much of a text as is needed to tell how many tokens it is. */
export interface Sample {
  readonly text: string
  /** By how much the whole is longer: 1 where all of it is there. */
  readonly times: number
}

/** What calls are made with. */
export interface Engine {
  readonly makeCall: MakeCall
  readonly upstream: Upstream
  readonly count: CountTokens
}

/** What calls to models are made with, and who may make them. */
export interface Ai extends Engine {
  readonly clock: Clock
  readonly clients: ClientDirectory
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
  /** For what a caller names by its address. */
  readonly stream: StreamOutbound
}
