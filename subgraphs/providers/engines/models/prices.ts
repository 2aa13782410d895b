import type { Capability, ImagePrice } from '../../stores/model/model.ts'
import { type ImageForm, imagePriceOf } from './image-prices.ts'

export const capabilities: readonly Capability[] = ['CHAT', 'IMAGE', 'TRANSCRIPTION', 'EMBEDDING']

/** Prices of a model, in whole micro-US-dollars; null for unknown ones. */
export interface Prices {
  /** Price of a million input tokens. */
  readonly inputMicrosPerMillion: bigint | null
  /** Price of a million cached input tokens; null: the input price. */
  readonly cacheReadMicrosPerMillion: bigint | null
  /** Price of a million input tokens cached for five minutes; null: a quarter more than the input price. */
  readonly cacheWriteMicrosPerMillion: bigint | null
  /** Price of a million output tokens. */
  readonly outputMicrosPerMillion: bigint | null
  readonly imageMicros: bigint | null
  /** Prices of one image by quality and size; empty: each costs `imageMicros`. */
  readonly imagePrices: readonly ImagePrice[]
  /** A minute of sound. */
  readonly minuteMicros: bigint | null
}

export const unpriced: Prices = {
  inputMicrosPerMillion: null,
  cacheReadMicrosPerMillion: null,
  cacheWriteMicrosPerMillion: null,
  outputMicrosPerMillion: null,
  imageMicros: null,
  imagePrices: [],
  minuteMicros: null,
}

type Priced = Prices & { readonly capability: Capability }

/** Usage of a call; null where it does not apply. */
export interface Usage {
  readonly inputTokens: number | null
  /** Cached part of the input tokens. */
  readonly cachedTokens?: number
  /** Input tokens that the vendor caches for later, for any time. */
  readonly cacheWriteTokens?: number
  /** Those of them cached for an hour, not for five minutes. */
  readonly longCacheWriteTokens?: number
  readonly outputTokens: number | null
  /** Images, or seconds of audio. */
  readonly units: number | null
  /** An image request. */
  readonly image?: ImageForm | undefined
}

/** Maximum usage of a call. */
export interface Bound {
  /** A token is at least a byte long. */
  readonly inputBytes?: number | undefined
  /** How long the vendor should cache parts: caching costs more. */
  readonly keeps?: 'minutes' | 'hour' | null | undefined
  readonly maxOutputTokens?: number | undefined
  readonly images?: number | undefined
  readonly image?: ImageForm | undefined
  /** Seconds of audio. */
  readonly seconds?: number | undefined
}

/**
 * Returns how a model is billed: by units (images, minutes) where those have a price, else by tokens; null without a
 * price.
 */
function waysOf({ capability, inputMicrosPerMillion: input, outputMicrosPerMillion: output, imageMicros, minuteMicros }: Priced): 'tokens' | 'pieces' | null {
  if (capability === 'IMAGE' && imageMicros !== null) return 'pieces'
  if (capability === 'TRANSCRIPTION' && minuteMicros !== null) return 'pieces'
  // A model without output tokens has no output price.
  const isWhole = capability === 'EMBEDDING' ? input !== null : input !== null && output !== null
  return isWhole ? 'tokens' : null
}

/** Whether the price of a model's calls is unknown. */
export const isUnpriced = (model: Priced): boolean => waysOf(model) === null

/**
 * Returns a call's cost in whole micro-dollars, rounded up once.
 * @returns null where the model has no price
 */
export function costOf(model: Priced, usage: Usage): bigint | null {
  const { outputTokens, units, image = anyImage } = usage
  const way = waysOf(model)
  if (way === null) return null
  if (way === 'tokens') return up(inputCost(model, usage) + whole(outputTokens) * (model.outputMicrosPerMillion ?? 0n) * fifth, 1_000_000n * fifth)
  return model.capability === 'IMAGE'
    ? whole(units) * imagePriceOf(model.imagePrices, image, model.imageMicros!)
    : up(milliseconds(units) * model.minuteMicros!, 60_000n)
}

const anyImage: ImageForm = { quality: null, size: null }

/** Unit of input costs: fifths, because an hour in a cache costs eight fifths of five minutes. */
const fifth = 5n

/** Returns the input cost in fifths of a micro-dollar for a million tokens: each part at its own price. */
function inputCost(model: Priced, { inputTokens, cachedTokens = 0, cacheWriteTokens = 0, longCacheWriteTokens = 0 }: Usage): bigint {
  const input = whole(inputTokens)
  const cached = least(whole(cachedTokens), input)
  const kept = least(whole(cacheWriteTokens), input - cached)
  const long = least(whole(longCacheWriteTokens), kept)
  const { price, read, write, writeLong } = inputPrices(model)
  return (input - cached - kept) * price + cached * read + (kept - long) * write + long * writeLong
}

/** Returns the prices of input tokens by their caching, in fifths of the input price. */
function inputPrices({ inputMicrosPerMillion, cacheReadMicrosPerMillion, cacheWriteMicrosPerMillion }: Prices) {
  const price = (inputMicrosPerMillion ?? 0n) * fifth
  const write = cacheWriteMicrosPerMillion === null ? (price * 5n + 3n) / 4n : cacheWriteMicrosPerMillion * fifth
  // Anthropic charges twice the input price to cache for an hour, and 1.25 times for five minutes.
  return { price, read: cacheReadMicrosPerMillion === null ? price : cacheReadMicrosPerMillion * fifth, write, writeLong: (write * 8n + 4n) / 5n }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Assumed maximum output tokens without a limit of the caller or catalogue. */
const mostOutput = 4_096

type Bounded = Priced & { readonly maxOutputTokens: number | null }

/** Returns the maximum cost of a call; null without a price. A call within the bound never costs more. */
export const boundOf = (model: Bounded, bound: Bound): bigint | null => costOf(model, mostUsage(model, bound))

/** Returns the maximum usage of a call. */
const mostUsage = (model: Bounded, { inputBytes = 0, keeps = null, maxOutputTokens, images = 0, image, seconds = 0 }: Bound) => ({
  inputTokens: inputBytes,
  ...dearest(model, inputBytes, keeps),
  outputTokens: model.capability === 'EMBEDDING' ? 0 : (maxOutputTokens ?? model.maxOutputTokens ?? mostOutput),
  units: model.capability === 'IMAGE' ? images : seconds,
  image,
})

/** Returns the most expensive caching of the input: a vendor may cache all of it or none without being asked. */
function dearest(model: Priced, tokens: number, keeps: Bound['keeps']): Pick<Usage, 'cachedTokens' | 'cacheWriteTokens' | 'longCacheWriteTokens'> {
  const { price, read, write, writeLong } = inputPrices(model)
  const all = [
    { at: price, as: {} },
    { at: read, as: { cachedTokens: tokens } },
    ...(keeps ? [{ at: write, as: { cacheWriteTokens: tokens } }] : []),
    ...(keeps === 'hour' ? [{ at: writeLong, as: { cacheWriteTokens: tokens, longCacheWriteTokens: tokens } }] : []),
  ]
  return all.reduce((most, each) => (each.at > most.at ? each : most)).as
}

/** Usage that is accepted for billing. */
export interface Believed {
  readonly usage: Usage
  /** Whether the provider reports more than possible. */
  readonly isDoubtful: boolean
}

/**
 * Limits a provider's reported usage to the call's bound. Cached tokens without a price of their own cost the input
 * price.
 */
export function believed(model: Bounded, told: Usage, bound: Bound): Believed {
  const most = mostUsage(model, bound)
  // If a call is billed per item, tokens cost nothing and nothing is reserved for them.
  if (waysOf(model) === 'pieces') most.inputTokens = most.outputTokens = Number.POSITIVE_INFINITY
  const { cacheWriteTokens = 0, longCacheWriteTokens = 0 } = told
  const usage = {
    ...told,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens: bound.keeps ? cacheWriteTokens : 0 }),
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens: bound.keeps === 'hour' ? longCacheWriteTokens : 0 }),
    inputTokens: lesser(told.inputTokens, most.inputTokens),
    outputTokens: lesser(told.outputTokens, most.outputTokens),
    units: lesser(told.units, most.units),
  }
  return { usage, isDoubtful: (['inputTokens', 'outputTokens', 'units'] as const).some(name => usage[name] !== told[name]) }
}

const lesser = (told: number | null, most: number): number | null => (told === null ? null : Math.min(told, Math.ceil(most)))

const up = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by

/** Rounds a number of tokens or images up; 0 for none. */
const whole = (count: number | null): bigint => BigInt(Math.max(0, Math.ceil(count ?? 0)))

const milliseconds = (seconds: number | null): bigint => BigInt(Math.max(0, Math.ceil((seconds ?? 0) * 1000)))
