import type { ImagePrice } from '../../stores/model/model.ts'

/** Maximum number of shown prices of one model. */
export const maxImagePrices = 40

/** Quality and size of images, as a caller names them; null and `auto` leave the choice to the model. */
export interface ImageForm {
  readonly quality: string | null
  readonly size: string | null
}

/**
 * Quality and size that are requested where a call leaves the choice, for models with prices by them, so that the price
 * is known before.
 */
const chosen = { quality: 'medium', size: '1024x1024' } as const

const isLeft = (wish: string | null): wish is null => wish === null || wish === 'auto'

/** Returns the quality and the size to ask a model for. A model without such prices is left the choice. */
export function formFor(prices: readonly ImagePrice[], { quality, size }: ImageForm): ImageForm {
  if (prices.length === 0) return { quality, size }
  return { quality: isLeft(quality) ? chosen.quality : quality, size: isLeft(size) ? chosen.size : size }
}

/** Returns the price of one image; an unlisted quality or size costs as much as the most expensive listed one. */
export function imagePriceOf(prices: readonly ImagePrice[], form: ImageForm, otherwise: bigint): bigint {
  const { quality, size } = formFor(prices, form)
  const ofQuality = prices.filter(price => price.quality === quality)
  const exact = ofQuality.find(price => price.size === size)
  if (exact) return BigInt(exact.micros)
  const possible = ofQuality.length > 0 ? ofQuality : prices
  return possible.length === 0 ? otherwise : BigInt(Math.max(...possible.map(({ micros }) => micros)))
}

/** Tokens of one generated image by quality, for a square and other sizes. */
const tokens: Readonly<Record<string, readonly [square: number, other: number]>> = { low: [272, 408], medium: [1_056, 1_584], high: [4_160, 6_240] }

/** Returns the maximum tokens of one image. */
export function maxImageTokens({ quality, size }: ImageForm): number {
  const [square, other] = tokens[quality ?? ''] ?? tokens.high!
  return size === '1024x1024' ? square : other
}
