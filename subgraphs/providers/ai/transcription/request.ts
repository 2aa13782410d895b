import { randomBytes } from 'node:crypto'
import { tokensIn } from '../wire/counts.ts'
import { modelIn, requireKnown, textIn, wordIn, wrong } from '../wire/fields.ts'
import { longestSeconds, usualSeconds } from './duration.ts'
import { type Form, type FormFile, writeForm } from './form.ts'

/** Bytes of a recording at most. */
export const largestFile = 25 * 1024 * 1024

const formats = ['json', 'text', 'verbose_json'] as const

/** A recording that somebody wants to read. */
export interface TranscriptionRequest {
  /** Null: the preference. */
  readonly model: string | null
  readonly file: FormFile
  readonly format: (typeof formats)[number]
  readonly language: string | null
  readonly prompt: string | null
  /** How long it can be at most. */
  readonly longestSeconds: number
  /** How long it is as recordings of its size usually are. */
  readonly usualSeconds: number
}

const known = ['file', 'model', 'language', 'prompt', 'response_format']

/** Fields that clients send by habit: with these values they say nothing, with another one they ask for what is not had here. */
const saysNothing: Readonly<Record<string, readonly string[]>> = {
  temperature: ['0', '0.0'],
  'timestamp_granularities[]': ['segment'],
  stream: ['false'],
}

/** Reads what a client of OpenAI's wire sends. @throws BAD_USER_INPUT */
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

/** A body for a provider, and its content type. Whoever wants a text alone is written one from JSON, which says what it costs too. @param upstream what the provider calls the model */
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
  /** The same as its provider counts it. */
  readonly toldSeconds: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** The provider's own answer. */
  readonly answer: Readonly<Record<string, unknown>>
}

/** Reads a provider's answer; null when it is none of this protocol. Time that it does not tell is what the recording can have been at most. */
export function readTranscriptionAnswer(answer: unknown, { longestSeconds: most }: TranscriptionRequest): TranscriptionAnswer | null {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return null
  const { text, duration, usage } = answer as {
    readonly text?: unknown
    readonly duration?: unknown
    readonly usage?: Readonly<Record<string, unknown>> | null
  }
  if (typeof text !== 'string') return null
  const told = usage?.type === 'duration' ? usage.seconds : (duration ?? secondsOfTokens(usage?.input_token_details))
  const toldSeconds = typeof told === 'number' && Number.isFinite(told) && told >= 0 ? told : most
  return {
    text,
    // A duration beyond what the bytes can hold is ignored: nobody pays more than was reserved.
    seconds: Math.min(toldSeconds, most),
    toldSeconds,
    inputTokens: tokensIn(usage?.input_tokens),
    outputTokens: tokensIn(usage?.output_tokens),
    answer: answer as Readonly<Record<string, unknown>>,
  }
}

/** How many tokens of sound models that count tokens hear in a second. */
export const tokensASecond = 10

function secondsOfTokens(details: unknown): number | null {
  const tokens = (details as { readonly audio_tokens?: unknown } | null | undefined)?.audio_tokens
  return Number.isSafeInteger(tokens) ? (tokens as number) / tokensASecond : null
}
