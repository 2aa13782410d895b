import type { Capability, ImagePrice } from '../../stores/model/model.ts'
import { type ImageForm, imagePriceOf } from './image-prices.ts'

export const capabilities: readonly Capability[] = ['CHAT', 'IMAGE', 'TRANSCRIPTION', 'EMBEDDING']

/** What a model costs, in whole micro-US-dollars; null: nobody knows. */
export interface Prices {
  /** A million tokens that it reads. */
  readonly inputMicrosPerMillion: bigint | null
  /** A million tokens that its vendor had kept from before; null: as any that it reads. */
  readonly cacheReadMicrosPerMillion: bigint | null
  /** A million tokens that its vendor keeps for five minutes; null: a quarter more than any that it reads. */
  readonly cacheWriteMicrosPerMillion: bigint | null
  /** A million tokens that it writes. */
  readonly outputMicrosPerMillion: bigint | null
  readonly imageMicros: bigint | null
  /** One image by quality and size; empty: each costs `imageMicros`. */
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

/** What a call used; null where it does not apply. */
export interface Usage {
  readonly inputTokens: number | null
  /** Of these: what the vendor had kept from before. */
  readonly cachedTokens?: number
  /** Of the input: what the vendor keeps for later, however long. */
  readonly cacheWriteTokens?: number
  /** Of these: what it keeps for an hour, and not for five minutes. */
  readonly longCacheWriteTokens?: number
  readonly outputTokens: number | null
  /** Images, or seconds of sound. */
  readonly units: number | null
  /** An image request. */
  readonly image?: ImageForm | undefined
}

/** What a call may use at most. */
export interface Bound {
  /** A token is at least a byte long. */
  readonly inputBytes?: number | undefined
  /** For how long the vendor is asked to keep some of it: what is kept costs more. */
  readonly keeps?: 'minutes' | 'hour' | null | undefined
  readonly maxOutputTokens?: number | undefined
  readonly images?: number | undefined
  readonly image?: ImageForm | undefined
  /** Of sound. */
  readonly seconds?: number | undefined
}

/** How a model is paid for: by pieces (images, minutes) where those have a price, else by tokens; null: it has no price. */
function waysOf({ capability, inputMicrosPerMillion: input, outputMicrosPerMillion: output, imageMicros, minuteMicros }: Priced): 'tokens' | 'pieces' | null {
  if (capability === 'IMAGE' && imageMicros !== null) return 'pieces'
  if (capability === 'TRANSCRIPTION' && minuteMicros !== null) return 'pieces'
  // A model without output tokens has no output price.
  const isWhole = capability === 'EMBEDDING' ? input !== null : input !== null && output !== null
  return isWhole ? 'tokens' : null
}

/** Whether nobody knows what calls of a model cost. */
export const isUnpriced = (model: Priced): boolean => waysOf(model) === null

/**
 * What a call cost, in whole micro-dollars, rounded up once.
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

/** Costs of input are counted in fifths, since an hour in a cache costs eight fifths of five minutes. */
const fifth = 5n

/** What input costs, in fifths of a micro-dollar for a million tokens: each part at its own price. */
function inputCost(model: Priced, { inputTokens, cachedTokens = 0, cacheWriteTokens = 0, longCacheWriteTokens = 0 }: Usage): bigint {
  const input = whole(inputTokens)
  const cached = least(whole(cachedTokens), input)
  const kept = least(whole(cacheWriteTokens), input - cached)
  const long = least(whole(longCacheWriteTokens), kept)
  const { price, read, write, writeLong } = inputPrices(model)
  return (input - cached - kept) * price + cached * read + (kept - long) * write + long * writeLong
}

/** The price of input tokens by what becomes of them, in fifths of the input price. */
function inputPrices({ inputMicrosPerMillion, cacheReadMicrosPerMillion, cacheWriteMicrosPerMillion }: Prices) {
  const price = (inputMicrosPerMillion ?? 0n) * fifth
  const write = cacheWriteMicrosPerMillion === null ? (price * 5n + 3n) / 4n : cacheWriteMicrosPerMillion * fifth
  // Anthropic charges twice the input price to cache for an hour, and 1.25 times for five minutes.
  return { price, read: cacheReadMicrosPerMillion === null ? price : cacheReadMicrosPerMillion * fifth, write, writeLong: (write * 8n + 4n) / 5n }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** What is taken for the most that a model writes where neither the caller nor the catalogue says it. */
const mostOutput = 4_096

type Bounded = Priced & { readonly maxOutputTokens: number | null }

/** What a call costs at most; null where the model has no price. A call within the bound never costs more. */
export const boundOf = (model: Bounded, bound: Bound): bigint | null => costOf(model, mostUsage(model, bound))

/** What a call uses at most. */
const mostUsage = (model: Bounded, { inputBytes = 0, keeps = null, maxOutputTokens, images = 0, image, seconds = 0 }: Bound) => ({
  inputTokens: inputBytes,
  ...dearest(model, inputBytes, keeps),
  outputTokens: model.capability === 'EMBEDDING' ? 0 : (maxOutputTokens ?? model.maxOutputTokens ?? mostOutput),
  units: model.capability === 'IMAGE' ? images : seconds,
  image,
})

/** The dearest input price: a vendor may have cached all of the input or none without being asked. */
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

/** What a call used, as it can have been. */
export interface Believed {
  readonly usage: Usage
  /** Whether its provider reports more than it can have been. */
  readonly isDoubtful: boolean
}

/** Holds what a provider reports to the bound of the call. Cached tokens without a price of their own cost the input price. */
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

/** A number of tokens or images, rounded up; none where there is none. */
const whole = (count: number | null): bigint => BigInt(Math.max(0, Math.ceil(count ?? 0)))

const milliseconds = (seconds: number | null): bigint => BigInt(Math.max(0, Math.ceil((seconds ?? 0) * 1000)))
