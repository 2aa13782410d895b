import { z } from 'zod'

/** A kind of phone. */
export type PhonePlatform = 'ANDROID' | 'IOS'

/** A file of an app for one kind of phone. */
export interface Artifact {
  readonly platform: PhonePlatform
  readonly identifier: string
  readonly version: string
  readonly build: string
  readonly status: string
  readonly url: string
  readonly sha256: string
  readonly bytes: number
  readonly minimumOs: string | null
  readonly releasedAt: string | null
  readonly storeUrl: string | null
}

/** A mobile app of the catalogue. */
export interface MobileAppEntryRow {
  readonly id: string
  readonly name: string
  readonly publisher: string
  readonly artifacts: readonly Artifact[]
}

/** The most apps that are read of the catalogue, and artifacts of one app. */
export const most = { apps: 500, artifacts: 20 } as const

const words = z
  .string()
  .max(500)
  .refine(text => text.isWellFormed() && !text.includes('\0'))
const link = z.url({ protocol: /^https?$/ }).max(2_000)
const artifact = z.object({
  platform: z.enum(['android', 'ios']).transform(name => name.toUpperCase() as PhonePlatform),
  ...{ identifier: words, version: words, build: z.union([words, z.number().transform(String)]), status: words },
  ...{ url: link, sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.number().int().nonnegative() },
  minimumOs: words.nullish().transform(value => value ?? null),
  releasedAt: z.iso
    .datetime()
    .nullish()
    .transform(value => (value ? new Date(value).toISOString() : null)),
  storeUrl: link.nullish().transform(value => value ?? null),
})
const entry = z.object({ id: words.min(1).max(200), name: words, publisher: words, artifacts: z.array(z.unknown()) })

/** Reads one app of the catalogue; files that cannot be read are left out. @returns null for what is no app */
export function readApp(value: unknown): MobileAppEntryRow | null {
  const { data } = entry.safeParse(value)
  if (!data) return null
  const artifacts = data.artifacts.slice(0, most.artifacts).flatMap(each => artifact.safeParse(each).data ?? [])
  return { ...data, artifacts }
}

/** Reads the list of the catalogue, each app once. @returns null for what is no list */
export function readApps(value: unknown): readonly MobileAppEntryRow[] | null {
  const list: unknown = Object(value).apps
  if (!Array.isArray(list)) return null
  const apps = list.slice(0, most.apps).flatMap(each => readApp(each) ?? [])
  return [...new Map(apps.map(app => [app.id, app])).values()]
}

/** The app with its files of one kind of phone; null when it has none. */
export function ofPlatform(app: MobileAppEntryRow, platform: PhonePlatform | null): MobileAppEntryRow | null {
  if (platform === null) return app
  const artifacts = app.artifacts.filter(each => each.platform === platform)
  return artifacts.length > 0 ? { ...app, artifacts } : null
}
