import { randomBytes } from 'node:crypto'
import { tokensIn } from '../wire/counts.ts'
import { modelIn, requireKnown, textIn, wordIn, wrong } from '../wire/fields.ts'
import { longestSeconds, usualSeconds } from './duration.ts'
import { type Form, type FormFile, writeForm } from './form.ts'

/** Maximum bytes of a recording. */
export const largestFile = 25 * 1024 * 1024

const formats = ['json', 'text', 'verbose_json'] as const

/** A request to transcribe a recording. */
export interface TranscriptionRequest {
  /** Name of the model; null for the preferred one. */
  readonly model: string | null
  readonly file: FormFile
  readonly format: (typeof formats)[number]
  readonly language: string | null
  readonly prompt: string | null
  /** Maximum duration in seconds. */
  readonly longestSeconds: number
  /** Likely duration in seconds, by its size. */
  readonly usualSeconds: number
}

const known = ['file', 'model', 'language', 'prompt', 'response_format']

/** Fields that clients send by habit: these values have no effect, others are not supported. */
const saysNothing: Readonly<Record<string, readonly string[]>> = {
  temperature: ['0', '0.0'],
  'timestamp_granularities[]': ['segment'],
  stream: ['false'],
}

/** Reads a request of OpenAI's protocol. @throws BAD_USER_INPUT */
export function readTranscriptionRequest({ fields, files }: Form): TranscriptionRequest {
  const said = Object.entries(fields).filter(([name, value]) => !(Object.hasOwn(saysNothing, name) && saysNothing[name]!.includes(value)))
  requireKnown({ ...Object.fromEntries(said), ...files }, known)
  const file = files.file
  if (file === undefined || file.bytes.byteLength === 0) return wrong('file', 'file is missing: it is a recording, sent as a file of the form.')
  if (file.bytes.byteLength > largestFile) wrong('file', `file has more than ${largestFile} bytes, the most that a recording may have.`)
  const language = textIn(fields, 'language', 20)
  if (language !== null && !/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/.test(language)) wrong('language', 'language must be a code of ISO 639, such as en.')
  return {
    model: modelIn(fields),
    file,
    format: wordIn(fields, 'response_format', formats) ?? 'json',
    language,
    prompt: textIn(fields, 'prompt', 32_000),
    longestSeconds: longestSeconds(file.bytes),
    usualSeconds: usualSeconds(file.bytes),
  }
}

/**
 * Builds the body for a provider, with its content type. A plain text is converted from JSON, which includes the usage.
 * @param upstream the provider's name of the model
 */
export function bodyOfTranscription({ file, format, language, prompt }: TranscriptionRequest, upstream: string) {
  const boundary = `form-${randomBytes(18).toString('base64url')}`
  const fields = {
    model: upstream,
    response_format: format === 'verbose_json' ? format : 'json',
    ...(language !== null && { language }),
    ...(prompt !== null && { prompt }),
  }
  return { type: `multipart/form-data; boundary=${boundary}`, body: writeForm(fields, file, boundary) }
}

/** The transcript. */
export interface TranscriptionAnswer {
  readonly text: string
  readonly seconds: number
  /** Seconds as the provider counts them. */
  readonly reportedSeconds: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** The provider's own answer. */
  readonly answer: Readonly<Record<string, unknown>>
}

/** Reads a provider's answer; null when it violates the protocol. An unreported duration counts as the maximum. */
export function readTranscriptionAnswer(answer: unknown, { longestSeconds: most }: TranscriptionRequest): TranscriptionAnswer | null {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return null
  const { text, duration, usage } = answer as {
    readonly text?: unknown
    readonly duration?: unknown
    readonly usage?: Readonly<Record<string, unknown>> | null
  }
  if (typeof text !== 'string') return null
  const told = usage?.type === 'duration' ? usage.seconds : (duration ?? secondsOfTokens(usage?.input_token_details))
  const reportedSeconds = typeof told === 'number' && Number.isFinite(told) && told >= 0 ? told : most
  return {
    text,
    // A duration beyond what the bytes can hold is ignored: nobody pays more than was reserved.
    seconds: Math.min(reportedSeconds, most),
    reportedSeconds,
    inputTokens: tokensIn(usage?.input_tokens),
    outputTokens: tokensIn(usage?.output_tokens),
    answer: answer as Readonly<Record<string, unknown>>,
  }
}

/** Tokens a second of audio in models that count tokens. */
export const tokensASecond = 10

function secondsOfTokens(details: unknown): number | null {
  const tokens = (details as { readonly audio_tokens?: unknown } | null | undefined)?.audio_tokens
  return Number.isSafeInteger(tokens) ? (tokens as number) / tokensASecond : null
}
