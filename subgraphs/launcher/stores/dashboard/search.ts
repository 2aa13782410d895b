import { rows } from '../../../../platform/sql/statement.ts'
import type { Openable, StoreContext } from '../../../store/store.ts'
import { type BoundStatement, boundStatement, noTenant } from '../../../store/tenancy.ts'
import { maxWords, seenEntry, type Wanted } from '../catalog-entry.ts'
import { seenItem } from '../inbox/action-item.ts'
import { seenNotification } from '../inbox/notification.ts'
import { seenWorkflow } from '../workflow.ts'

export type HitKind = 'APP' | 'ACTION' | 'LINK' | 'NOTIFICATION' | 'WORKFLOW'

/** What a search found. */
export interface Hit {
  readonly kind: HitKind
  readonly id: string
  readonly title: string
  readonly app: string | null
  readonly url: string | null
  readonly icon: string | null
  readonly score: number
}

/**
 * What is searched: records that the viewer sees in the active context, each with id, title, app, url, icon, its words (`search`) and its
 * letters (`letters`).
 */
interface Searched {
  readonly kind: HitKind
  readonly records: string
}

const searched: readonly Searched[] = [
  {
    kind: 'APP',
    records: `select t.id, t.title, t.app, null::text as url, null::text as icon, t.search, t.letters
      from launcher.installations i join launcher.catalog_entries t on t.app = i.app
      where i.removed_at is null and ${seenEntry} and case when :organization::uuid is null then i.user_id = :person else i.organization_id = :organization end`,
  },
  {
    kind: 'LINK',
    records: `select f.id, f.title, null::text as app, f.url, null::text as icon, to_tsvector('simple', f.title) as search, lower(f.title) as letters
      from launcher.favourites f where f.url is not null and f.user_id = :person and f.organization_id is not distinct from :organization::uuid`,
  },
  {
    kind: 'LINK',
    records: `select l.id, l.title, null::text as app, l.url, l.icon, to_tsvector('simple', l.title) as search, lower(l.title) as letters
      from launcher.shared_links l where l.organization_id = :organization`,
  },
  {
    kind: 'ACTION',
    records: `select t.id, t.title, t.app, t.url, null::text as icon, t.search, t.letters
      from launcher.action_items t where t.status = 'OPEN' and (${seenItem})`,
  },
  {
    kind: 'NOTIFICATION',
    records: `select t.id, t.title, t.app, t.url, null::text as icon, t.search, t.letters
      from launcher.notifications t where t.archived_at is null and ${seenNotification}`,
  },
  {
    kind: 'WORKFLOW',
    records: `select t.id, t.name as title, null::text as app, null::text as url, null::text as icon, t.search, t.letters
      from launcher.workflows t where ${seenWorkflow}`,
  },
]

/** @param limit the parameter that holds the maximum number of hits; the one after it holds the apps that are not shown */
const ranked = (condition: string, score: string, limit: number): string => `
  select h.kind, h.id, h.title, h.app, h.url, h.icon, h.score from (
    ${searched
      .map(
        ({ kind, records }) =>
          `select '${kind}' as kind, r.id, r.title, r.app, r.url, r.icon, (${score})::float8 as score from (${records}) r where ${condition}${kind === 'APP' ? ` and r.app <> all($${limit + 1}::text[])` : ''}`,
      )
      .join(' union all ')}
  ) h order by h.score desc, h.title, h.id limit $${limit}::int`

/** Words as they stand, or as they begin; a title that is the search, or begins with it, comes first. */
const exact = boundStatement(
  ranked(
    `r.search @@ to_tsquery('simple', $1)`,
    `case when lower(r.title) = $2 then 2 when starts_with(lower(r.title), $2) then 1 else 0 end + ts_rank(r.search, to_tsquery('simple', $1))`,
    3,
  ),
  4,
)

/** Words with typing errors, for each number of words: each resembles one of the record. */
const near: readonly BoundStatement[] = Array.from({ length: maxWords }, (_, at) => {
  const places = Array.from({ length: at + 1 }, (_, index) => `$${index + 1}`)
  const likeness = 'launcher.word_likeness(word, lower(r.title)) + 0.5 * launcher.word_likeness(word, r.letters)'
  return boundStatement(
    ranked(
      places.map(place => `launcher.has_like_word(${place}, r.letters)`).join(' and '),
      `select sum(${likeness}) from unnest(array[${places.join(', ')}]::text[]) as word`,
      at + 2,
    ),
    at + 3,
  )
})

/** Installed apps by the person's launches since a moment, the others by title. */
const launched = boundStatement(
  `select 'APP' as kind, r.id, r.title, r.app, r.url, r.icon, 0::float8 as score from (${searched.find(({ kind }) => kind === 'APP')!.records}) r
    left join (
      select l.app, count(*) as times, max(l.created_at) as latest from launcher.launches l
      where l.user_id = :person and l.organization_id is not distinct from :organization::uuid and l.created_at >= $1 and l.status <> 'FAILED' group by l.app
    ) used on used.app = r.app
  where r.app <> all($2::text[]) order by used.times desc nulls last, used.latest desc nulls last, r.title, r.id limit $3::int`,
  3,
)

/** Searches what a viewer sees in the active context. */
export interface Search {
  /**
   * Returns records that have the words of a search or their beginnings, the best first.
   * @param hidden apps that are installed and not shown
   */
  find(wanted: Wanted, hidden: readonly string[], limit: number): Promise<Hit[]>
  /** Returns records with similar words, the best first. */
  findAlike(each: readonly string[], hidden: readonly string[], limit: number): Promise<Hit[]>
  /** Returns installed apps, those that the person launched most often since a moment first, then the others by title. */
  mostLaunched(since: Date, hidden: readonly string[], limit: number): Promise<Hit[]>
}

export const searchStore: Openable<Search> = {
  open: ({ sequelize, reading, viewer }: StoreContext) => {
    const tenant = viewer ?? noTenant
    const read = (wanted: BoundStatement, values: readonly unknown[]) =>
      reading.statement(() => rows<Hit>(sequelize, wanted, wanted.values(values, tenant), null, reading))
    return {
      find: ({ query, title }, hidden, limit) => read(exact, [query, title, limit, hidden]),
      findAlike(each, hidden, limit) {
        const words = each.slice(0, maxWords)
        return read(near[words.length - 1]!, [...words, limit, hidden])
      },
      mostLaunched: (since, hidden, limit) => read(launched, [since, hidden, limit]),
    }
  },
}
