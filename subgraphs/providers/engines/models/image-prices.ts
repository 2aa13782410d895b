import type { ImagePrice } from '../../stores/model/model.ts'

/** How many prices of one model are shown at most. */
export const maxImagePrices = 40

/** The quality and the size of images, as a caller names them; null and `auto` leave the choice. */
export interface ImageForm {
  readonly quality: string | null
  readonly size: string | null
}

/** What is drawn of a model with prices by quality and size where a call leaves the choice: so its price is known before it is drawn. */
const chosen = { quality: 'medium', size: '1024x1024' } as const

const isLeft = (wish: string | null): wish is null => wish === null || wish === 'auto'

/** Returns the quality and the size to ask a model for. A model without such prices is left the choice. */
export function formFor(prices: readonly ImagePrice[], { quality, size }: ImageForm): ImageForm {
  if (prices.length === 0) return { quality, size }
  return { quality: isLeft(quality) ? chosen.quality : quality, size: isLeft(size) ? chosen.size : size }
}

/** Returns what one image costs; a quality or a size that has no price costs as the dearest that it may be. */
export function imagePriceOf(prices: readonly ImagePrice[], form: ImageForm, otherwise: bigint): bigint {
  const { quality, size } = formFor(prices, form)
  const ofQuality = prices.filter(price => price.quality === quality)
  const exact = ofQuality.find(price => price.size === size)
  if (exact) return BigInt(exact.micros)
  const possible = ofQuality.length > 0 ? ofQuality : prices
  return possible.length === 0 ? otherwise : BigInt(Math.max(...possible.map(({ micros }) => micros)))
}

/**
 * Tokens of one image, which models that are paid by tokens write: of a square, and of other sizes. As people quote OpenAI's guide to image
 * generation at https://community.openai.com/t/1371851 (a stored copy, read on 2026-11-26); the guide itself was not verified.
 */
const tokens: Readonly<Record<string, readonly [square: number, other: number]>> = { low: [272, 408], medium: [1_056, 1_584], high: [4_160, 6_240] }

/** Returns the most tokens that one image has. */
export function maxImageTokens({ quality, size }: ImageForm): number {
  const [square, other] = tokens[quality ?? ''] ?? tokens.high!
  return size === '1024x1024' ? square : other
}
