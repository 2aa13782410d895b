import { createHash } from 'node:crypto'
import { z } from 'zod'
import { idOfName } from '../../../../platform/ids.ts'
import { type EntryContext, type Listed, type MobileBuild, slugPattern } from '../../stores/catalog-entry.ts'

/** Namespace of the ids of entries that the developer platform lists. */
const namespace = idOfName('00000000-0000-0000-0000-000000000000', 'apps of the developer platform')

/** Maximum parts of one app that are read. */
export const max = { screenshots: 10, mobileApps: 4 } as const

const words = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine(text => text.isWellFormed() && !text.includes('\0'))
const optional = <Of extends z.ZodType>(of: Of) => of.nullish().transform(value => value ?? null)
const link = z.url({ protocol: /^https?$/ }).max(2_000)
const word = <const Values extends readonly [string, ...string[]]>(...values: Values) => z.string().toUpperCase().pipe(z.enum(values))

const app = z.object({
  slug: z.string().regex(slugPattern),
  organizationId: optional(z.uuid()),
  title: words(80),
  summary: optional(words(200)),
  description: optional(words(4_000)),
  category: optional(words(80)),
  publisher: optional(words(80)),
  icon: optional(link),
  kind: word('APPLICATION', 'TECHNICAL'),
  lifecycle: word('ACTIVE', 'DEPRECATED', 'RETIRED').default('ACTIVE'),
  contexts: z.array(word('PERSONAL', 'ORGANIZATION')).min(1).max(2),
  capabilities: z.array(word('HOUSEHOLD_CAPABLE')).max(1).default([]),
  widget: optional(z.object({ url: link, audience: word('ORGANIZATION', 'USER') })),
  jwksUrl: optional(link),
  launchUrl: optional(link),
  initiateLoginUri: optional(link),
  mobileApps: z.array(z.object({ platform: word('IOS', 'ANDROID'), storeUrl: optional(link) })).default([]),
  screenshots: z.array(link).default([]),
  version: optional(words(40)),
})

const page = z.object({ apps: z.array(z.unknown()).max(5_000), nextCursor: z.string().max(200).nullish(), icons: z.record(z.string(), link).optional() })

/** One page of the developer platform's catalogue. */
export interface CataloguePage {
  readonly apps: readonly Listed[]
  readonly nextCursor: string | null
  /** Icons of the platform's own apps, by slug. */
  readonly icons: Readonly<Record<string, string>>
}

/** Identifies what a source says of an app. */
export const digestOf = (entry: object): string => createHash('sha256').update(JSON.stringify(entry)).digest('base64url')

/** Reads one app of the developer platform; null for what is none. An app that names an organization is that organization's own. */
export function readListed(value: unknown): Listed | null {
  const { data } = app.safeParse(value)
  if (!data) return null
  const { slug, icon, widget, jwksUrl, version, contexts, capabilities, ...rest } = data
  const entry = {
    ...rest,
    id: idOfName(namespace, slug),
    app: slug,
    origin: data.organizationId ? ('CUSTOM' as const) : ('STORE' as const),
    iconUrl: icon,
    contexts: [...new Set(contexts)] as EntryContext[],
    capabilities: [...new Set(capabilities)],
    widgetAudience: widget?.audience ?? null,
    widgetUrl: widget?.url ?? null,
    keysUrl: jwksUrl,
    mobileApps: data.mobileApps.slice(0, max.mobileApps) satisfies MobileBuild[],
    screenshots: data.screenshots.slice(0, max.screenshots),
    release: version,
    maintenanceUntil: null,
  }
  return { ...entry, digest: digestOf(entry) }
}

/** Reads one page of the catalogue; apps that cannot be read are left out. @returns null for what is no page */
export function readCatalogue(text: string): CataloguePage | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return null
  }
  const { data } = page.safeParse(body)
  if (!data) return null
  return { apps: data.apps.flatMap(each => readListed(each) ?? []), nextCursor: data.nextCursor ?? null, icons: data.icons ?? {} }
}
