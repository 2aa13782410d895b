import type { AiModel } from '../../engines/models/candidates.ts'
import { formFor, type ImageForm, maxImageTokens } from '../../engines/models/image-prices.ts'
import type { Bound, Usage } from '../../engines/models/prices.ts'
import { type Given, modelIn, requireKnown, requireText, textIn, wholeIn, wordIn, wrong } from '../wire/fields.ts'

/** The most images of one call. */
export const mostImages = 4
/** The most characters of a prompt. */
const longestPrompt = 32_000

const qualities = ['auto', 'low', 'medium', 'high', 'standard', 'hd'] as const
const backgrounds = ['auto', 'transparent', 'opaque'] as const
const formats = ['png', 'jpeg', 'webp'] as const

/** Images that somebody wants. */
export interface ImageRequest {
  /** Null: the preference. */
  readonly model: string | null
  readonly prompt: string
  readonly n: number
  /** What is passed on as it was said; nothing of it was said where it is absent. */
  readonly wishes: Readonly<Record<string, string>>
}

const known = ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'response_format', 'user']

/** Reads what a client of OpenAI's wire sends. Images come as base64 alone, so that is the one `response_format` that there is. @throws BAD_USER_INPUT */
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

/** What decides the price of images. */
const formOf = ({ wishes }: ImageRequest): ImageForm => ({ quality: wishes.quality ?? null, size: wishes.size ?? null })

/** Returns the body for a provider. Quality and size are named where the price goes by them. */
export function bodyOfImages(request: ImageRequest, { upstream, imagePrices }: Pick<AiModel, 'upstream' | 'imagePrices'>): string {
  const { prompt, n, wishes } = request
  const form = Object.entries(formFor(imagePrices, formOf(request))).filter(([, wish]) => wish !== null)
  return JSON.stringify({ model: upstream, prompt, n, ...wishes, ...Object.fromEntries(form) })
}

/** Returns the most that drawing may use: images by quality and size, or the tokens that stand for them. */
export const boundOfImages = (request: ImageRequest): Bound => ({
  inputBytes: Buffer.byteLength(request.prompt),
  maxOutputTokens: request.n * maxImageTokens(formOf(request)),
  images: request.n,
  image: formOf(request),
})

/** Returns what drawing used. Tokens that a provider does not count are as many as they can be. */
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

/** Images that were made. */
export interface ImageAnswer {
  /** Seconds since 1970. */
  readonly created: number
  /** In base64. */
  readonly images: readonly string[]
  /** As the provider counted, where it did. */
  readonly usage: Readonly<Record<string, unknown>> | null
}

/** Reads a provider's answer; null when it is none of this protocol: no image, one that is no base64, or more than were asked for. */
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

/** By its beginning and its length: what is a picture is for whoever shows it. */
const isBase64 = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= 4 && value.length % 4 === 0 && /^[A-Za-z0-9+/]{4,64}/.test(value) && !value.includes('\n')
