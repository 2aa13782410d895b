import { tokensIn } from '../wire/counts.ts'
import { type Given, modelIn, requireKnown, textIn, wholeIn, wordIn, wrong } from '../wire/fields.ts'

/** Maximum texts of one call. */
const mostInputs = 2048
/** Maximum dimensions of a vector. */
const mostDimensions = 8192

/** Texts, or their tokens. */
export type EmbeddingInput = readonly string[] | readonly (readonly number[])[]

/** A request for embeddings. */
export interface EmbeddingRequest {
  /** Name of the model; null for the preferred one. */
  readonly model: string | null
  readonly input: EmbeddingInput
  readonly encoding: 'float' | 'base64'
  readonly dimensions: number | null
  readonly user: string | null
}

const known = ['model', 'input', 'encoding_format', 'dimensions', 'user']

/** Reads a request of OpenAI's protocol: one text or several, as text or as tokens. @throws BAD_USER_INPUT */
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

/** Returns an upper bound of an input's tokens: one for each byte of a text. */
export const mostTokens = (input: EmbeddingInput): number =>
  input.reduce((sum: number, each) => sum + (typeof each === 'string' ? Buffer.byteLength(each) : each.length), 0)

/** Builds the body for a provider. @param upstream the provider's name of the model */
export const bodyOfEmbeddings = ({ input, encoding, dimensions, user }: EmbeddingRequest, upstream: string): string =>
  JSON.stringify({ model: upstream, input, encoding_format: encoding, ...(dimensions !== null && { dimensions }), ...(user !== null && { user }) })

/** Vectors in the order of the texts. */
export interface EmbeddingAnswer {
  readonly vectors: readonly (readonly number[] | string)[]
  /** Reported tokens; null where the provider reports no number. */
  readonly tokens: number | null
}

/**
 * Reads a provider's answer; null when it violates the protocol. Vectors are returned in the requested encoding,
 * whatever the provider sent: not every one supports base64.
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

/** Encodes numbers as clients of this protocol expect: 32 bits each, little-endian, in base64. */
function packed(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * 4)
  for (const [at, each] of numbers.entries()) bytes.writeFloatLE(each, at * 4)
  return bytes.toString('base64')
}

const unpacked = (bytes: Buffer): readonly number[] => Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
