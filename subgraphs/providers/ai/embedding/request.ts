import { tokensIn } from '../wire/counts.ts'
import { type Given, modelIn, requireKnown, textIn, wholeIn, wordIn, wrong } from '../wire/fields.ts'

/** The most texts of one call. */
const mostInputs = 2048
/** The most numbers of one vector. */
const mostDimensions = 8192

/** Texts, or the tokens of texts. */
export type EmbeddingInput = readonly string[] | readonly (readonly number[])[]

/** Texts of which somebody wants the vectors. */
export interface EmbeddingRequest {
  /** Null: the preference. */
  readonly model: string | null
  readonly input: EmbeddingInput
  readonly encoding: 'float' | 'base64'
  readonly dimensions: number | null
  readonly user: string | null
}

const known = ['model', 'input', 'encoding_format', 'dimensions', 'user']

/** Reads what a client of OpenAI's wire sends: one text or several, as text or as tokens. @throws BAD_USER_INPUT */
export function readEmbeddingRequest(given: Given): EmbeddingRequest {
  requireKnown(given, known)
  return {
    model: modelIn(given),
    input: readInput(given.input),
    encoding: wordIn(given, 'encoding_format', ['float', 'base64']) ?? 'float',
    dimensions: wholeIn(given, 'dimensions', 1, mostDimensions),
    user: textIn(given, 'user', 500),
  }
}

const isToken = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31
const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0 && value.isWellFormed()
const areTokens = (value: unknown): value is number[] => Array.isArray(value) && value.length > 0 && value.every(isToken)

function readInput(input: unknown): EmbeddingInput {
  if (isText(input)) return [input]
  if (areTokens(input)) return [input]
  if (Array.isArray(input) && input.length > 0 && input.length <= mostInputs && (input.every(isText) || input.every(areTokens))) return input
  return wrong('input', `input must be a text that is not empty, or its tokens, or a list of 1 to ${mostInputs} of either.`)
}

/** The most tokens that an input can have: one for each byte of a text. */
export const mostTokens = (input: EmbeddingInput): number =>
  input.reduce((sum: number, each) => sum + (typeof each === 'string' ? Buffer.byteLength(each) : each.length), 0)

/** The body for a provider. @param upstream what the provider calls the model */
export const bodyOfEmbeddings = ({ input, encoding, dimensions, user }: EmbeddingRequest, upstream: string): string =>
  JSON.stringify({ model: upstream, input, encoding_format: encoding, ...(dimensions !== null && { dimensions }), ...(user !== null && { user }) })

/** Vectors in the order of the texts. */
export interface EmbeddingAnswer {
  readonly vectors: readonly (readonly number[] | string)[]
  /** Null where the provider does not say it in numbers. */
  readonly tokens: number | null
}

/**
 * Reads a provider's answer; null when it is none of this protocol. Vectors come in the encoding that was asked for, whatever the provider sent: not every
 * one knows base64.
 */
export function readEmbeddingAnswer(answer: unknown, { input, encoding }: EmbeddingRequest): EmbeddingAnswer | null {
  const { data, usage } = (answer ?? {}) as { readonly data?: unknown; readonly usage?: { readonly prompt_tokens?: unknown } | null }
  if (!Array.isArray(data) || data.length !== input.length) return null
  const vectors: (readonly number[] | string)[] = new Array(data.length)
  for (const [at, entry] of data.entries()) {
    const { index = at, embedding } = (entry ?? {}) as { readonly index?: unknown; readonly embedding?: unknown }
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= data.length || vectors[index as number] !== undefined) return null
    const vector = encoded(embedding, encoding)
    if (vector === null) return null
    vectors[index as number] = vector
  }
  return { vectors, tokens: tokensIn(usage?.prompt_tokens) }
}

function encoded(embedding: unknown, encoding: 'float' | 'base64'): readonly number[] | string | null {
  if (Array.isArray(embedding)) {
    if (embedding.length < 1 || !embedding.every(Number.isFinite)) return null
    return encoding === 'float' ? embedding : packed(embedding)
  }
  if (typeof embedding !== 'string' || embedding.length < 8 || !/^[A-Za-z0-9+/]+={0,2}$/.test(embedding)) return null
  const bytes = Buffer.from(embedding, 'base64')
  if (bytes.length % 4 !== 0) return null
  return encoding === 'base64' ? embedding : unpacked(bytes)
}

/** Numbers as clients of this wire take them: 32 bits each, the lowest byte first, in base64. */
function packed(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * 4)
  for (const [at, each] of numbers.entries()) bytes.writeFloatLE(each, at * 4)
  return bytes.toString('base64')
}

const unpacked = (bytes: Buffer): readonly number[] => Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
