import { isId } from '../../../../platform/ids.ts'
import { type Connection, type Order, type PageRequest, toConnection } from '../../../../platform/page.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { createLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'
import { personOf } from '../../../viewer.ts'

export type ActivityKind = 'POST_CREATED' | 'POST_CHANGED' | 'POST_DELETED' | 'POST_APPROVAL' | 'POST_STATUS' | 'CONNECTION' | 'MEDIA' | 'CAMPAIGN' | 'BRAND'

/** An activity in a brand, from its audit log. */
export interface BrandActivityRow {
  readonly id: string
  readonly brandId: string
  readonly at: Date
  readonly kind: ActivityKind
  /** Null when no person acted. */
  readonly userId: string | null
  readonly postId: string | null
  readonly connectionId: string | null
}

/** Kinds of activity by the noun of the audit action; every other shown entry is a change of a post. */
const kindsOfThings: Readonly<Record<string, ActivityKind>> = {
  post: 'POST_CHANGED',
  // Audit entries of a thread have the id of its first post.
  thread: 'POST_CHANGED',
  connection: 'CONNECTION',
  media: 'MEDIA',
  media_folder: 'MEDIA',
  image: 'MEDIA',
  campaign: 'CAMPAIGN',
  brand: 'BRAND',
}

const kindsOfPosts: Readonly<Record<string, ActivityKind>> = {
  created: 'POST_CREATED',
  deleted: 'POST_DELETED',
  scheduled: 'POST_STATUS',
  reverted: 'POST_STATUS',
  cancelled: 'POST_STATUS',
  queued: 'POST_STATUS',
  published: 'POST_STATUS',
  failed: 'POST_STATUS',
  'not-delivered': 'POST_STATUS',
  'taken-up': 'POST_STATUS',
  submitted: 'POST_APPROVAL',
  'sent-back': 'POST_APPROVAL',
  'approval-reset': 'POST_APPROVAL',
  approved: 'POST_APPROVAL',
  rejected: 'POST_APPROVAL',
  held: 'POST_APPROVAL',
  released: 'POST_APPROVAL',
}

/**
 * Returns the kind of activity of an audit action; null for an action that people do not see. @param action noun and
 * past participle: `post.created`
 */
export function kindOf(action: string): ActivityKind | null {
  const [thing, done] = action.split('.') as [string, string?]
  if (thing === 'post' && done && Object.hasOwn(kindsOfPosts, done)) return kindsOfPosts[done]!
  return Object.hasOwn(kindsOfThings, thing) ? kindsOfThings[thing]! : null
}

interface Entry {
  readonly id: string
  readonly brandId: string
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly subjectId: string
}

function activityOf({ id, brandId, at, actor, action, subjectId }: Entry): BrandActivityRow {
  const kind = kindOf(action)!
  return {
    id,
    brandId,
    at,
    kind,
    userId: personOf(actor),
    postId: kind.startsWith('POST_') ? subjectId : null,
    connectionId: kind === 'CONNECTION' ? subjectId : null,
  }
}

/** The latest first: ids of audit entries begin with their time. */
export const latestFirst: Order<BrandActivityRow> = { name: 'activity.latest', position: ({ id }) => [id], parts: [isId] }

const things = `array[${Object.keys(kindsOfThings)
  .map(name => `'${name}'`)
  .join(', ')}]`
const shown = `split_part(a.action, '.', 1) = any(${things})`
const columns = 'a.id, a.tenant_id as "brandId", a.at, a.actor, a.action, a.subject_id as "subjectId"'
const seen = 'exists (select from publishing.brands b where b.id = a.tenant_id and ($2::uuid is null or b.organization_id = $2))'
const page = (after: string) =>
  statement(`select ${columns} from publishing.audit_entries a where a.tenant_id = $1 and ${seen} and ${shown}${after} order by a.id desc limit $3`)
const firstPage = page('')
const nextPage = page(' and a.id < $4')
const count = statement(`select count(*)::int as count from publishing.audit_entries a where a.tenant_id = $1 and ${seen} and ${shown}`)
const some = statement(
  `select ${columns} from publishing.audit_entries a where a.tenant_id = any($1::uuid[]) and a.id = any($3::uuid[]) and ${seen} and ${shown}`,
)
const later = statement(`select a.id from publishing.audit_entries a where a.tenant_id = $1 and a.id >= $2 and ${shown} order by a.id desc limit 500`)

/** Returns the smallest id of a moment. */
const idAt = (at: Date): string => {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** Id of no organization: a viewer without an organization sees no activity. */
const nowhere = '00000000-0000-0000-0000-000000000000'

/** Activities in brands, read from their audit log. */
export const activityStore = {
  open({ sequelize, reading, viewer }: StoreContext) {
    const organization = viewer ? (viewer.organizationId ?? nowhere) : null
    const ask = <Found>(wanted: ReturnType<typeof statement>, values: readonly unknown[]) => rows<Found>(sequelize, wanted, values, null, reading)
    return {
      /** Returns a page of a brand's activities, the latest first. */
      async page(brandId: string, request: PageRequest): Promise<Connection<BrandActivityRow>> {
        const { after, limit } = request
        const found = await reading.statement(() =>
          after ? ask<Entry>(nextPage, [brandId, organization, limit, ...after]) : ask<Entry>(firstPage, [brandId, organization, limit]),
        )
        return toConnection(found.map(activityOf), request, latestFirst, async () => {
          const [all] = await reading.statement(() => ask<{ count: number }>(count, [brandId, organization]))
          return all!.count
        })
      },

      /**
       * Loads an activity of a brand by its id; null for one that the viewer may not see, or that is older than the
       * retention period.
       */
      one: createLoader<{ readonly brandId: string; readonly id: string }, BrandActivityRow | null>(reading, async keys => {
        const found = await ask<Entry>(some, [keys.map(({ brandId }) => brandId), organization, keys.map(({ id }) => id)])
        const byId = new Map(found.map(entry => [entry.id, activityOf(entry)]))
        return keys.map(({ id }) => byId.get(id) ?? null)
      }),

      /** Returns the ids of a brand's activities since a moment, the last 500. */
      since: (brandId: string, at: Date) => ask<{ id: string }>(later, [brandId, idAt(at)]),
    }
  },
}
