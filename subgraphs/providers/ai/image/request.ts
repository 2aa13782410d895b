import type { AiModel } from '../../engines/models/candidates.ts'
import { formFor, type ImageForm, maxImageTokens } from '../../engines/models/image-prices.ts'
import type { Bound, Usage } from '../../engines/models/prices.ts'
import { type Given, modelIn, requireKnown, requireText, textIn, wholeIn, wordIn, wrong } from '../wire/fields.ts'

/** Maximum images of one call. */
export const mostImages = 4
/** The most characters of a prompt. */
const longestPrompt = 32_000

const qualities = ['auto', 'low', 'medium', 'high', 'standard', 'hd'] as const
const backgrounds = ['auto', 'transparent', 'opaque'] as const
const formats = ['png', 'jpeg', 'webp'] as const

/** A request for images. */
export interface ImageRequest {
  /** Name of the model; null for the preferred one. */
  readonly model: string | null
  readonly prompt: string
  readonly n: number
  /** Members that are passed on unchanged; absent ones were not sent. */
  readonly wishes: Readonly<Record<string, string>>
}

const known = ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'response_format', 'user']

/**
 * Reads a request of OpenAI's protocol. Images are returned as base64 only, the one supported `response_format`.
 * @throws BAD_USER_INPUT
 */
export function readImageRequest(given: Given): ImageRequest {
  requireKnown(given, known)
  wordIn(given, 'response_format', ['b64_json'])
  const size = textIn(given, 'size', 20)
  if (size !== null && !/^(?:auto|[1-9]\d{1,4}x[1-9]\d{1,4})$/.test(size)) wrong('size', 'size must be auto, or width and height in pixels, such as 1024x1024.')
  const wishes = {
    size,
    quality: wordIn(given, 'quality', qualities),
    background: wordIn(given, 'background', backgrounds),
    output_format: wordIn(given, 'output_format', formats),
    user: textIn(given, 'user', 500),
  }
  return {
    model: modelIn(given),
    prompt: requireText(given, 'prompt', longestPrompt),
    n: wholeIn(given, 'n', 1, mostImages) ?? 1,
    wishes: Object.fromEntries(Object.entries(wishes).filter((wish): wish is [string, string] => wish[1] !== null)),
  }
}

/** Returns the properties that determine the price of images. */
const formOf = ({ wishes }: ImageRequest): ImageForm => ({ quality: wishes.quality ?? null, size: wishes.size ?? null })

/** Builds the body for a provider. Quality and size are named where the price depends on them. */
export function bodyOfImages(request: ImageRequest, { upstream, imagePrices }: Pick<AiModel, 'upstream' | 'imagePrices'>): string {
  const { prompt, n, wishes } = request
  const form = Object.entries(formFor(imagePrices, formOf(request))).filter(([, wish]) => wish !== null)
  return JSON.stringify({ model: upstream, prompt, n, ...wishes, ...Object.fromEntries(form) })
}

/** Returns the maximum usage of a generation: images by quality and size, or equivalent tokens. */
export const boundOfImages = (request: ImageRequest): Bound => ({
  inputBytes: Buffer.byteLength(request.prompt),
  maxOutputTokens: request.n * maxImageTokens(formOf(request)),
  images: request.n,
  image: formOf(request),
})

/** Returns the usage of a generation. Tokens that a provider does not report count at their maximum. */
export function usageOfImages(request: ImageRequest, { images, usage }: ImageAnswer): Usage {
  const count = (name: string, otherwise: number) => (Number.isSafeInteger(usage?.[name]) ? (usage![name] as number) : otherwise)
  const { inputBytes = 0, image } = boundOfImages(request)
  return {
    inputTokens: count('input_tokens', inputBytes),
    outputTokens: count('output_tokens', images.length * maxImageTokens(formOf(request))),
    units: images.length,
    image,
  }
}

/** Generated images. */
export interface ImageAnswer {
  /** Seconds since 1970. */
  readonly created: number
  /** Images in base64. */
  readonly images: readonly string[]
  /** Usage as the provider reports it, if it does. */
  readonly usage: Readonly<Record<string, unknown>> | null
}

/** Reads a provider's answer; null when it violates the protocol: no image, invalid base64, or more than requested. */
export function readImageAnswer(answer: unknown, { n }: ImageRequest, now: Date): ImageAnswer | null {
  const { created, data, usage } = (answer ?? {}) as { readonly created?: unknown; readonly data?: unknown; readonly usage?: unknown }
  if (!Array.isArray(data) || data.length < 1 || data.length > n) return null
  const images = data.map(each => (each as { readonly b64_json?: unknown } | null)?.b64_json)
  if (!images.every(isBase64)) return null
  return {
    created: Number.isSafeInteger(created) ? (created as number) : Math.floor(now.getTime() / 1000),
    images,
    usage: typeof usage === 'object' && usage !== null && !Array.isArray(usage) ? (usage as Readonly<Record<string, unknown>>) : null,
  }
}

/** Whether a value looks like base64 by its beginning and length; clients decide whether it is a picture. */
const isBase64 = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= 4 && value.length % 4 === 0 && /^[A-Za-z0-9+/]{4,64}/.test(value) && !value.includes('\n')
