import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** Cost of a call, and its bucket. */
export interface QuotaCost {
  readonly bucket: string
  readonly units: number
}

/** The video network's quota: daily units of each bucket, and the cost of each call. */
export interface QuotaTable {
  /** Units a day, by bucket; each is reset at midnight on the Pacific coast. */
  readonly buckets: Readonly<Record<string, number>>
  /** Costs by method (`videos.insert`), by kind (`list`, `write`), and `unknown` for all others. */
  readonly calls: Readonly<Record<string, QuotaCost>>
}

const usual = { list: { bucket: 'default', units: 1 }, write: { bucket: 'default', units: 50 }, unknown: { bucket: 'default', units: 1 } } as const
const captions = { 'captions.insert': { bucket: 'default', units: 400 } } as const

/** Built-in tables: YouTube's of 2026, and the former one, with one bucket for everything. */
export const quotaTables = {
  2026: {
    buckets: { 'videos.insert': 100, 'search.list': 100, default: 10_000 },
    calls: { ...usual, ...captions, 'videos.insert': { bucket: 'videos.insert', units: 1 }, 'search.list': { bucket: 'search.list', units: 1 } },
  },
  classic: {
    buckets: { default: 10_000 },
    calls: { ...usual, ...captions, 'videos.insert': { bucket: 'default', units: 1_600 }, 'search.list': { bucket: 'default', units: 100 } },
  },
} as const satisfies Readonly<Record<string, QuotaTable>>

/** The most buckets that a table has. */
export const mostBuckets = 10

const units = z.int().min(0).max(1_000_000_000)
const name = z.string().regex(/^[\w.-]{1,100}$/)
const form = z
  .strictObject({ buckets: z.record(name, units), calls: z.record(name, z.strictObject({ bucket: name, units })) })
  .refine(({ buckets }) => Object.keys(buckets).length <= mostBuckets, `buckets has more than ${mostBuckets}`)
  .refine(({ calls }) => ['list', 'write', 'unknown'].every(kind => calls[kind]), 'calls needs list, write and unknown')
  .refine(
    ({ buckets, calls }) => Object.values(calls).every(({ bucket }) => Object.hasOwn(buckets, bucket)),
    'a call counts in a bucket that buckets does not have',
  )

/**
 * Reads a table: a built-in one by name, or a JSON file of the same form.
 * @throws Error with a sentence to follow the setting's name
 */
export function readQuotaTable(given: string): QuotaTable {
  if (Object.hasOwn(quotaTables, given)) return quotaTables[given as keyof typeof quotaTables]
  let text: string
  try {
    text = readFileSync(given, 'utf8')
  } catch {
    throw new Error('must be 2026, classic, or a file of JSON that can be read')
  }
  try {
    return form.parse(JSON.parse(text))
  } catch (error) {
    const why =
      error instanceof z.ZodError ? error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`).join('; ') : 'it is not JSON'
    throw new Error(`names a file that is no table of quotas (${why})`)
  }
}

/** Resources of the Data API, as documented: writing to them costs a write. */
const resources: ReadonlySet<string> = new Set([
  ...['abuseReports', 'activities', 'captions', 'channelBanners', 'channelSections', 'channels', 'comments', 'commentThreads', 'i18nLanguages'],
  ...['i18nRegions', 'liveBroadcasts', 'liveChat', 'liveStreams', 'members', 'membershipsLevels', 'playlistImages', 'playlistItems', 'playlists', 'search'],
  ...['subscriptions', 'superChatEvents', 'tests', 'thirdPartyLinks', 'thumbnails', 'videoAbuseReportReasons', 'videoCategories', 'videos', 'watermarks'],
])

const verbs: Readonly<Record<string, string>> = { GET: 'list', POST: 'insert', PUT: 'update', PATCH: 'update', DELETE: 'delete' }

/** Returns a call's name in the network's terms: `videos.insert`; `unknown` for an undocumented one. */
export function methodOf(method: string, path: string): string {
  const [resource = '', verb] = path
    .replace(/^(?:upload\/)?youtube\/v3\//, '')
    .split('/')
    .filter(Boolean)
  const plain = verbs[method]
  if (!resources.has(resource) || plain === undefined) return 'unknown'
  // A segment after a resource is either a verb of its own, or an id.
  const isVerb = verb !== undefined && !(resource === 'captions' && plain !== 'insert')
  return `${resource}.${isVerb ? verb : plain}`
}

/** Returns the cost of a call. */
export function costOf({ calls }: QuotaTable, method: string, path: string): QuotaCost & { readonly method: string } {
  const called = methodOf(method, path)
  const kind = called === 'unknown' ? 'unknown' : method === 'GET' ? 'list' : 'write'
  return { ...(calls[called] ?? calls[kind]!), method: called }
}
