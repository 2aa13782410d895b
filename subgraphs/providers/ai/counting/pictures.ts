import type { Size } from './picture-size.ts'

/** A picture that a model is shown. */
export interface Picture {
  /** Size of the picture; null where it is unknown, behind an address, or not shown by its header. */
  readonly size: Size | null
  /** Requested detail, as in OpenAI's protocol; null for the model's default. */
  readonly detail: string | null
}

/** Counts a picture in tokens. @param size null for the largest possible */
type Rule = (size: Size | null, detail: string | null) => number

const fitted = ({ width, height }: Size, times: number): Size => (times >= 1 ? { width, height } : { width: width * times, height: height * times })

/**
 * Rule of OpenAI's models with tiles (https://platform.openai.com/docs/guides/images-vision#calculating-costs): the
 * picture is fitted into 2,048 × 2,048, then to a shorter side of 768, and counted in squares of 512.
 */
const tiles =
  (base: number, tile: number): Rule =>
  (size, detail) => {
    if (detail === 'low') return base
    if (!size) return base + 8 * tile
    const within = fitted(size, 2_048 / Math.max(size.width, size.height))
    const { width, height } = fitted(within, 768 / Math.min(within.width, within.height))
    return base + Math.ceil(width / 512) * Math.ceil(height / 512) * tile
  }

/**
 * Rule of OpenAI's models with patches of 32 × 32, up to 1,536 of them: a larger picture is scaled down. Each costs a
 * number of tokens.
 */
const patches =
  (tokens: number): Rule =>
  size => {
    if (!size) return Math.ceil(1_536 * tokens)
    const count = Math.ceil(size.width / 32) * Math.ceil(size.height / 32)
    return Math.ceil(Math.min(count, 1_536) * tokens)
  }

/**
 * Anthropic's rule (https://docs.anthropic.com/en/docs/build-with-claude/vision): fitted to a longer side, a token for
 * 750 pixels, up to a maximum.
 */
const area =
  (longest: number, most: number): Rule =>
  size => {
    if (!size) return most
    const { width, height } = fitted(size, longest / Math.max(size.width, size.height))
    return Math.min(most, Math.ceil((width * height) / 750))
  }

/**
 * Google's rule (https://ai.google.dev/gemini-api/docs/tokens): 258 for a small picture, and for each square of 768 of
 * a larger one.
 */
const squares: Rule = size => {
  if (!size) return 16 * 258
  if (size.width <= 384 && size.height <= 384) return 258
  const unit = Math.min(768, Math.max(256, Math.floor(Math.min(size.width, size.height) / 1.5)))
  return Math.min(16, Math.ceil(size.width / unit) * Math.ceil(size.height / unit)) * 258
}

/** Rule for unknown models: no vendor in use counts more for a picture. */
const unknown: Rule = () => 5_000

/** Rules by provider and the provider's model name; the first match applies. */
const rules: readonly (readonly [provider: string, model: RegExp, rule: Rule])[] = [
  ['openai', /^gpt-4o-mini/, tiles(2_833, 5_667)],
  ['openai', /^(?:gpt-4\.1|gpt-5)-mini/, patches(1.62)],
  ['openai', /^(?:gpt-4\.1|gpt-5)-nano/, patches(2.46)],
  ['openai', /^o4-mini/, patches(1.72)],
  ['openai', /^(?:o1|o3)/, tiles(75, 150)],
  ['openai', /^(?:gpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-|chatgpt-4o)/, tiles(85, 170)],
  ['openai', /^gpt-5(?:$|-\d|-chat|-pro|-codex|\.1)/, tiles(70, 140)],
  ['anthropic', /^claude-(?:[a-z]+-)?(?:4-[7-9]|[5-9])/, area(2_576, 4_784)],
  ['anthropic', /./, area(1_568, 1_600)],
  ['google', /./, squares],
]

/** Counts the tokens of a picture by its vendor's rules. A picture of unknown size counts the maximum. */
export function tokensOfPicture({ provider, upstream }: { readonly provider: string; readonly upstream: string }, { size, detail }: Picture): number {
  const [, , rule] = rules.find(([vendor, model]) => vendor === provider && model.test(upstream)) ?? ['', /./, unknown]
  return rule(size, detail)
}
