import type { KeptTrend } from '../../stores/media/trend.ts'

/** Time in ms for which a report is reused, and the maximum age of its facts in ms. */
export const keptMs = 6 * 3_600_000
const oldestMs = 30 * 86_400_000

/** Maximum number of refreshes of a report per hour. */
export const refreshes = { most: 6, windowMs: 3_600_000 } as const

export const most = { trends: 20, topic: 200, summary: 2_000, source: 200, url: 2_000 } as const

const text = { type: ['string', 'null'] } as const

/** Response format requested of a model (https://platform.openai.com/docs/guides/structured-outputs). */
export const responseFormat = {
  type: 'json_schema',
  json_schema: {
    name: 'trends',
    strict: true,
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['trends'],
      properties: {
        trends: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['topic', 'summary', 'source', 'url', 'score', 'observedAt'],
            properties: {
              topic: { type: 'string' },
              summary: { type: 'string' },
              source: text,
              url: text,
              score: { type: ['number', 'null'] },
              observedAt: { ...text, description: 'When it was observed, ISO 8601.' },
            },
          },
        },
      },
    },
  },
} as const

/** Returns the prompt for a model. */
export const questionOf = (
  brand: { readonly name: string; readonly description: string | null },
  now: Date,
): { readonly system: string; readonly user: string } => ({
  system:
    'You find what people talk about at present on social networks, for an editor who writes posts. Name at most ten topics that suit the brand, the most talked about first; each with a summary of two sentences, where it is talked about, an address where you know one, a score from 0 to 1, and when it was observed.',
  user: `Today is ${now.toISOString().slice(0, 10)}. The brand is called ${JSON.stringify(brand.name)}${brand.description ? ` and says of itself: ${JSON.stringify(brand.description)}` : ''}.`,
})

/** Returns the list in a model's answer; null when there is none. */
export function itemsIn(content: string | null): readonly unknown[] | null {
  try {
    const { trends } = JSON.parse(content ?? '') as { trends?: unknown }
    return Array.isArray(trends) ? trends : null
  } catch {
    return null
  }
}

const shortened = (value: unknown, length: number): string | null => {
  const text = typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '').trim() : ''
  return text ? [...text].slice(0, length).join('') : null
}

function webAddress(value: unknown): string | null {
  const text = shortened(value, most.url)
  return text && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? new URL(text).href : null
}

/**
 * Converts one item of a model's answer for storage; null for an item without a topic or summary, or dated more than 30
 * days ago. A year mentioned in its text is ignored.
 */
export function trendOf(item: unknown, now: Date, id: string): KeptTrend | null {
  if (typeof item !== 'object' || item === null) return null
  const { topic, summary, source, url, score, observedAt } = item as Record<string, unknown>
  const [named, said] = [shortened(topic, most.topic), shortened(summary, most.summary)]
  const at = typeof observedAt === 'string' ? Date.parse(observedAt) : Number.NaN
  if (!named || !said || now.getTime() - at > oldestMs) return null
  const years = [...`${named} ${said}`.matchAll(/(?<!\d)(?:19|20)\d\d(?!\d)/g)].map(([year]) => Number(year))
  return {
    id,
    topic: named,
    summary: said,
    source: shortened(source, most.source),
    url: webAddress(url),
    score: typeof score === 'number' && score >= 0 && score <= 1 ? score : null,
    // An item without date, or with a future one, counts as seen now.
    observedAt: new Date(at <= now.getTime() ? at : now.getTime()).toISOString(),
    mentionsEarlierYear: years.some(year => year < now.getUTCFullYear()),
  }
}

/** Returns the items of an answer that are stored. @param idOf generates an id for each */
export const trendsOf = (items: readonly unknown[], now: Date, idOf: () => string): readonly KeptTrend[] =>
  items.flatMap(item => trendOf(item, now, idOf()) ?? []).slice(0, most.trends)
