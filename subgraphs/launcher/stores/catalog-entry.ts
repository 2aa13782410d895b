import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { columnOf, json, moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import { boundStatement, noTenant } from '../../store/tenancy.ts'

export type EntryOrigin = 'PLATFORM' | 'STORE' | 'CUSTOM'
export type EntryKind = 'APPLICATION' | 'TECHNICAL'
export type EntryContext = 'PERSONAL' | 'ORGANIZATION'

/** An app for phones, as its store lists it. */
export interface MobileBuild {
  readonly platform: 'IOS' | 'ANDROID'
  readonly storeUrl: string | null
}

/** Slugs of apps. */
export const slugPattern = /^[a-z0-9][a-z0-9-]{0,79}$/

export const catalogEntries = table('launcher.catalog_entries', {
  id: uuid.key,
  /** Slug of the app. */
  app: text,
  origin: text.of<EntryOrigin>(),
  /** The organization that a custom app belongs to; null for all others. */
  organizationId: uuid.maybe,
  title: text,
  summary: text.maybe,
  description: text.maybe,
  category: text.maybe,
  publisher: text.maybe,
  /** Where the developer platform has the icon. */
  iconUrl: text.maybe,
  kind: text.of<EntryKind>(),
  lifecycle: text.of<'ACTIVE' | 'DEPRECATED' | 'RETIRED'>(),
  contexts: texts,
  capabilities: texts,
  /** Null for an app without a widget. */
  widgetAudience: text.maybe.of<'ORGANIZATION' | 'USER' | null>(),
  /** Where the widget is read; null for an app of the platform. */
  widgetUrl: text.maybe,
  /** Where the app publishes the keys that sign its messages. */
  keysUrl: text.maybe,
  launchUrl: text.maybe,
  initiateLoginUri: text.maybe,
  mobileApps: json,
  screenshots: texts,
  /** The app's version, as its publisher counts. */
  release: text.maybe,
  maintenanceUntil: moment.maybe,
  digest: text,
  removedAt: moment.maybe,
  ...stamps,
})

export type CatalogEntryRow = Row<typeof catalogEntries>

/** What a source says of an app. */
export type Listed = Omit<CatalogEntryRow, 'removedAt' | 'version' | 'createdAt' | 'updatedAt' | 'createdBy'>

/** Maximum hits of a search. */
export const maxHits = 200

/** Condition for entries of the viewer's active context: the catalogue of an organization, or that of a person alone. */
export const seenEntry = `t.removed_at is null and case when :organization::uuid is null
  then t.organization_id is null and ('PERSONAL' = any(t.contexts) or 'HOUSEHOLD_CAPABLE' = any(t.capabilities))
  else 'ORGANIZATION' = any(t.contexts) and (t.organization_id is null or t.organization_id = :organization) end`

/** Condition for entries that are installed in the viewer's active context. */
const isInstalled = `exists (select from launcher.installations i where i.app = t.app and i.removed_at is null
  and case when :organization::uuid is null then i.user_id = :person else i.organization_id = :organization end)`

const lock = transactionLock('launcher.catalog', 0)
const columns = Object.keys(catalogEntries.columns).filter(name => !['removedAt', 'version', 'createdAt', 'updatedAt', 'createdBy'].includes(name))
const changing = columns.filter(name => name !== 'id' && name !== 'app')

/** Writes entries that are new or say something else. An app never takes over the slug of another origin. */
const write = statement(
  `insert into launcher.catalog_entries as t (${columns.map(columnOf).join(', ')}, created_at, updated_at, created_by)
   select ${columns.map(name => `r."${name}"`).join(', ')}, $2, $2, 'catalogue'
     from jsonb_to_recordset($1::jsonb) as r (${columns.map(name => `"${name}" ${catalogEntries.columns[name as 'id'].type}`).join(', ')})
   on conflict (app) do update set ${changing.map(name => `${columnOf(name)} = excluded.${columnOf(name)}`).join(', ')},
     removed_at = null, updated_at = excluded.updated_at, version = t.version + 1
   where (t.digest <> excluded.digest or t.removed_at is not null) and (t.origin = 'PLATFORM') = (excluded.origin = 'PLATFORM')
   returning t.app`,
)
const removeOthers = statement(
  `update launcher.catalog_entries t set removed_at = $3, updated_at = $3, version = t.version + 1
    where (t.origin = 'PLATFORM') = $1 and t.removed_at is null and not t.app = any($2::text[]) returning t.app`,
)
const ofApps = `select ${selectList(catalogEntries, 't')} from launcher.catalog_entries t where t.app = any($1::text[]) and`
const byApp = statement(`${ofApps} t.removed_at is null`)
const seenByApp = boundStatement(`${ofApps} ${seenEntry}`, 1)
/** Whether the catalogue of the other context has an app. Custom apps of other organizations are never revealed. */
const elsewhere = statement('select t.app from launcher.catalog_entries t where t.app = $1 and t.removed_at is null and t.organization_id is null')
const iconOf = statement('select t.app, t.title, t.icon_url as "iconUrl" from launcher.catalog_entries t where t.app = $1 and t.removed_at is null')

const ranked = (condition: string, rank: string) =>
  `select t.id, (${rank})::float8 as score from launcher.catalog_entries t where ${condition} order by score desc, t.title, t.id limit ${maxHits}`
const wholeTitle = `case when lower(t.title) = $2 then 2 when starts_with(lower(t.title), $2) then 1 else 0 end`

/** Words as they stand, or as they begin; the title counts more than the summary, and the summary more than the description. */
const exactly = (where: string) => ranked(`t.search @@ to_tsquery('simple', $1) and ${where}`, `${wholeTitle} + ts_rank(t.search, to_tsquery('simple', $1))`)

/** A search, as its words are. */
export interface Words {
  /** The query of PostgreSQL that finds words and beginnings of words. */
  readonly query: string
  /** The words, in lower case. */
  readonly each: readonly string[]
}

/** What is looked for: the query of PostgreSQL, and the title that comes first. */
export interface Wanted {
  readonly query: string
  readonly title: string
}

/** A searched catalogue: entries in use that a search may find. */
const kinds = {
  context: seenEntry,
  store: `t.removed_at is null and t.origin = 'STORE' and t.kind = 'APPLICATION' and t.lifecycle <> 'RETIRED'`,
} as const

/** Maximum words of a search. */
export const maxWords = 8
/** Maximum known words that are compared with a typed one. */
const maxLike = 2_000
const searches = { context: boundStatement(exactly(kinds.context), 2), store: boundStatement(exactly(kinds.store), 2) } as const

/**
 * Words of the catalogue that resemble a typed one: by groups of three letters, or by the same first letter and about the same length, because a
 * mistake in a short word changes most of its groups.
 */
const wordsLike = statement(
  `select typed, word from unnest($1::text[]) as typed cross join lateral (
     (select w.word from launcher.catalog_words w where launcher.is_like_word(w.word, typed) limit ${maxLike})
     union
     (select w.word from launcher.catalog_words w
        where length(typed) < 9 and left(w.word, 1) = left(typed, 1) and length(w.word) between length(typed) - 2 and length(typed) + 2 limit ${maxLike})
   ) known`,
)
/** Adds the words of apps to those that are known. */
const keepWords = statement(
  `insert into launcher.catalog_words (word)
     select distinct word from launcher.catalog_entries t cross join lateral unnest(tsvector_to_array(t.search)) as word
       where t.app = any($1::text[]) and length(word) <= 200
     on conflict do nothing`,
)
/** Words of apps that are gone, which no app has any more. */
const dropWords = statement(
  `delete from launcher.catalog_words w where w.word in (
     select word from launcher.catalog_entries t cross join lateral unnest(tsvector_to_array(t.search)) as word where t.app = any($1::text[])
   ) and not exists (select from launcher.catalog_entries t where t.removed_at is null and t.search @@ array_to_tsvector(array[w.word])::text::tsquery)`,
)

const ownSql = (rows: Rows<typeof catalogEntries>, { reading, viewer }: StoreContext) => {
  // Reads whole rows: a loader that waits for another one within its batch holds a turn of the operation's reads.
  const apps = createLoader<string, CatalogEntryRow | null>(reading, async wanted => {
    const found = viewer ? await rows.read(seenByApp, seenByApp.values([wanted], viewer)) : await rows.read(byApp, [wanted])
    const entries = new Map(found.map(row => [row.app, row]))
    return wanted.map(app => entries.get(app) ?? null)
  })
  return {
    /** Loads the entry of an app that the viewer may see; null when there is none. */
    ofApp: (app: string) => apps.load(app),

    /** Whether some context has an app, the custom ones of organizations left aside. */
    isElsewhere: async (app: string): Promise<boolean> => (await rows.read<{ app: string }>(elsewhere, [app])).length > 0,

    /** Returns where an app's icon is, of whatever origin; undefined for an unknown app. */
    iconOf: async (app: string) => (await rows.read<{ app: string; title: string; iconUrl: string | null }>(iconOf, [app]))[0],

    /** Returns the ids of entries that have the words of a search or their beginnings, the best first. */
    async ranked(kind: keyof typeof kinds, { query, title }: Wanted): Promise<string[]> {
      const search = searches[kind]
      return (await rows.read<{ id: string }>(search, search.values([query, title], viewer ?? noTenant))).map(({ id }) => id)
    },

    /** Returns words of the catalogue that resemble typed ones. They may be those of apps that the viewer does not see. */
    async wordsLike(each: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
      const found = await rows.read<{ typed: string; word: string }>(wordsLike, [each])
      const known = new Map<string, string[]>()
      for (const { typed, word } of found) known.set(typed, [...(known.get(typed) ?? []), word])
      return known
    },

    /** Replaces what one source lists, one replacement at a time. @returns whether anything is different now */
    async replace(isPlatform: boolean, listed: readonly Listed[], now: Date, transaction: Transaction): Promise<boolean> {
      await rows.read(lock, [], transaction)
      const written = await rows.read(write, [JSON.stringify(listed), now], transaction)
      const removed = await rows.read(removeOthers, [isPlatform, listed.map(({ app }) => app), now], transaction)
      const [kept, gone] = [written, removed].map(entries => (entries as readonly { app: string }[]).map(({ app }) => app))
      if (kept!.length > 0) await rows.read(keepWords, [kept], transaction)
      if (gone!.length > 0) await rows.read(dropWords, [gone], transaction)
      return written.length + removed.length > 0
    },
  }
}

/** Sorts by title. */
export const compareTitles = (a: { readonly title: string }, b: { readonly title: string }): number => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0)

const byTitle = { by: 'title', way: 'asc', name: 'title' } as const

/** Entries of the active context's catalogue. */
export const catalogEntryStore = store(
  catalogEntries,
  {
    what: 'app',
    tenancy: { where: seenEntry },
    filters: {
      category: 'eq',
      kind: 'eq',
      origin: 'eq',
      installed: (wanted: boolean) => (wanted ? isInstalled : `not ${isInstalled}`),
    },
    sorted: byTitle,
  },
  ownSql,
)

const storeByApp = statement(`${ofApps} ${kinds.store}`)

/** Apps of the store, for everybody. */
export const storeAppStore = store(
  catalogEntries,
  { what: 'app of the store', tenancy: { where: kinds.store }, filters: { category: 'eq' }, sorted: byTitle },
  rows => ({
    /** Returns one app of the store; null when there is none. */
    async ofApp(app: string): Promise<CatalogEntryRow | null> {
      return (await rows.read(storeByApp, [[app]]))[0] ?? null
    },
  }),
)
