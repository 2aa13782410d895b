import type { Capability, NewModel } from '../../stores/model/model.ts'

/** Maximum models taken from a source. */
const mostModels = 2_000

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Error for an unexpected answer of a source. */
const strange = (sentence: string): Error => new Error(sentence)

/** Returns the model of a dated snapshot: `gpt-5-mini` for `gpt-5-mini-2025-08-07`. */
const withoutDate = (id: string): string => id.replace(/-\d{4}-\d{2}-\d{2}$/, '').replace(/-\d{8}$/, '')

/** Returns a model's capability by its name; null for an unsupported one. */
export function capabilityOf(id: string): Capability | null {
  if (/embedding/.test(id)) return 'EMBEDDING'
  if (/whisper|transcribe/.test(id)) return 'TRANSCRIPTION'
  if (/image|dall-e|imagen/.test(id)) return 'IMAGE'
  if (/tts|audio|realtime|moderation|search|instruct|babbage|davinci|sora|veo|computer-use|aqa|live/.test(id)) return null
  return /^(?:gpt-|chatgpt-|o\d|claude-|gemini-|gemma-|demo-)/.test(id) ? 'CHAT' : null
}

const nameOf = (provider: string, id: string): string | null => {
  const name = `${provider}/${withoutDate(id)}`
  return /^[\x21-\x7e]+$/.test(name) && name.length <= 200 ? name : null
}

/** Removes duplicates: the first of each name counts. */
const once = (models: readonly NewModel[]): readonly NewModel[] =>
  [...new Map(models.toReversed().map(model => [model.name, model])).values()].toReversed().slice(0, mostModels)

/**
 * Reads a provider's list: OpenAI's `{ data: [{ id }] }`, which others use too.
 * @throws for any other answer
 */
export function readProviderList(provider: string, answer: unknown): readonly NewModel[] {
  if (!isObject(answer) || !Array.isArray(answer.data)) throw strange('its answer is no list of models')
  const models = answer.data.slice(0, mostModels * 2).flatMap((each: unknown): NewModel[] => {
    const id = isObject(each) && typeof each.id === 'string' ? each.id.replace(/^models\//, '') : ''
    const [name, capability] = [nameOf(provider, id), capabilityOf(id)]
    return name && capability ? [{ name, capability, ...releasedIn(each as Fields) }] : []
  })
  return once(models)
}

/**
 * Returns a model's release: seconds since 1970 (OpenAI's `created`), or a timestamp (Anthropic's `created_at`);
 * nothing without either.
 */
function releasedIn({ created, created_at: createdAt }: Fields): Pick<NewModel, 'releasedAt'> {
  const at = typeof created === 'number' ? new Date(created * 1000) : new Date(typeof createdAt === 'string' ? createdAt : Number.NaN)
  return at.getTime() > 0 && at.getTime() < latestRelease ? { releasedAt: at.toISOString() } : {}
}

/** Latest plausible release: larger numbers use other units. */
const latestRelease = Date.UTC(2100, 0)

/** Providers of the open catalogue that the platform supports. */
const followed = ['openai', 'anthropic', 'google'] as const

/**
 * Reads the open catalogue: prices, limits and retirements of supported providers' models.
 * @throws for any other answer
 */
export function readCatalogue(answer: unknown): readonly NewModel[] {
  if (!isObject(answer)) throw strange('its answer is no catalogue')
  const found = followed.flatMap(provider => {
    const entry = answer[provider]
    if (!isObject(entry) || !isObject(entry.models)) return []
    return Object.values(entry.models)
      .slice(0, mostModels * 2)
      .flatMap(model => (isObject(model) ? readEntry(provider, model) : []))
  })
  if (found.length === 0) throw strange('its answer has no model of a provider that is known here')
  return once(found)
}

function readEntry(provider: string, entry: Fields): readonly NewModel[] {
  const { id, cost, limit, status } = entry
  if (typeof id !== 'string') return []
  const [name, capability] = [nameOf(provider, id), capabilityOf(id)]
  if (!name || !capability) return []
  const releasedAt = dayIn(entry.release_date)
  const deprecatedAt = dayIn(entry.deprecation_date)
  const retiresAt = dayIn(entry.retirement_date)
  const ends = status === 'deprecated' || deprecatedAt !== null || retiresAt !== null
  const limits = isObject(limit) ? limit : {}
  const prices = isObject(cost) ? cost : {}
  const model: NewModel = {
    name,
    capability,
    ...(releasedAt !== null && { releasedAt }),
    contextTokens: tokensIn(limits.context),
    // For embedding models the catalogue lists the vector length.
    maxOutputTokens: capability === 'EMBEDDING' ? null : tokensIn(limits.output),
    inputMicrosPerMillion: microsIn(prices.input),
    cacheReadMicrosPerMillion: microsIn(prices.cache_read),
    cacheWriteMicrosPerMillion: microsIn(prices.cache_write),
    outputMicrosPerMillion: capability === 'EMBEDDING' ? null : microsIn(prices.output),
    ...(ends && { lifecycle: 'DEPRECATED', deprecatedAt, retiresAt, replacement: replacementIn(provider, entry.replacement) }),
  }
  return [model]
}

/** Returns midnight of a day such as `2030-06-30`. */
function dayIn(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  const at = new Date(`${value}T00:00:00.000Z`)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

const tokensIn = (value: unknown): number | null => (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 1_000_000_000 ? value : null)

/** Converts US dollars for a million tokens, at most ten thousand, to whole micro-dollars, rounded up. */
export function microsIn(dollars: unknown): string | null {
  if (typeof dollars !== 'number' || !Number.isFinite(dollars) || dollars < 0 || dollars > 10_000) return null
  // Rounds away the error of decimal fractions in floating point, so that no micro-dollar is added.
  return String(Math.ceil(Number((dollars * 1_000_000).toFixed(3))))
}

const replacementIn = (provider: string, value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? (value.includes('/') ? value.slice(0, 200) : nameOf(provider, value)) : null
