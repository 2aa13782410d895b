import type { Clock } from '../../../../platform/clock.ts'
import { isId } from '../../../../platform/ids.ts'
import { isMoment, type Order, type PageRequest } from '../../../../platform/page.ts'
import { keptStatements } from '../../../../platform/sql/statement.ts'
import type { Asked } from '../../../store/filter/pages.ts'

/** The severities, from most to least. */
export const severities = ['CRITICAL', 'HIGH', 'NORMAL', 'LOW'] as const

export type Severity = (typeof severities)[number]

/** Filter of the list of items; null does not restrict it. */
export interface ItemFilter {
  /** OPEN leaves out what the viewer has snoozed. */
  readonly status: readonly ('OPEN' | 'SNOOZED' | 'DONE' | 'RESOLVED')[]
  readonly app: string | null
  readonly kind: string | null
  readonly severity: Severity | null
  /** Whether only what is assigned to the viewer is listed. */
  readonly isMine: boolean
}

/** Returns the number by which the database sorts a severity. */
const urgencyOf = (severity: Severity): number => severities.length - severities.indexOf(severity)

/** The most severe first, then those whose cause is the latest. */
export const severeOrder: Order<{ readonly id: string; readonly severity: Severity; readonly openedAt: Date }> = {
  name: 'actionItems.severe',
  position: ({ severity, openedAt, id }) => [String(urgencyOf(severity)), openedAt.toISOString(), id],
  parts: [value => /^[1-4]$/.test(value), isMoment, isId],
}

/** There are some hundred combinations of filters, each with a statement of its own. */
export const keptLists = keptStatements(200)

/** The audiences that a viewer belongs to, and the person; null for a key. */
interface SeenBy {
  readonly keys: readonly string[]
  readonly userId: string | null
}

/**
 * Writes the statements of the list: of a page if a request is given, else of the count. A page reads along an index for
 * each of the viewer's audiences, and for open and closed items apart, no further than it is long.
 */
export const listWriter =
  (columns: string, { keys, userId }: SeenBy, clock: Clock) =>
  (filter: ItemFilter, page?: PageRequest): Asked => {
    const values: unknown[] = []
    const bind = (value: unknown): string => `$${values.push(value)}`
    const audiences = bind(keys)
    const isSnoozed = () => (userId === null ? 'false' : snoozed(bind(userId), bind(clock.now()), page !== undefined))
    const branches = branchesOf(filter, isSnoozed)
    const further = [...comparisonsOf(filter, userId, bind), ...pastOf(page, bind)]
    const from = (audience: string, branch: readonly string[]) => `from launcher.action_items t where ${[audience, ...branch, ...further].join(' and ')}`
    if (!page) {
      const counted = branches.map(branch => `(select count(*) ${from(`t.audience_key = any(${audiences}::text[])`, branch)})`)
      return { text: `select (${counted.join(' + ') || '0'})::int as count`, values }
    }
    const limit = bind(page.limit)
    const read = (branch: readonly string[]) =>
      `(select ${columns} ${from('t.audience_key = audience.key', branch)} order by t.urgency desc, t.opened_at desc, t.id desc limit ${limit})`
    const text = `select row.* from unnest(${audiences}::text[]) as audience (key) cross join lateral (${branches.map(read).join(' union all ')}) row
      order by array_position(array['${severities.join(`', '`)}'], row.severity), row."openedAt" desc, row.id desc limit ${limit}`
    return { text, values }
  }

/**
 * Returns the condition of items that a person has snoozed. A page looks up each row that it meets; PostgreSQL would rather join all snoozes with all
 * items and sort, which only a count needs.
 */
function snoozed(userId: string, now: string, isPage: boolean): string {
  const found = `from launcher.action_item_snoozes z where z.user_id = ${userId} and z.item_id = t.id and z.woken_at is null and z.until > ${now}`
  return isPage ? `coalesce((select true ${found}), false)` : `exists (select ${found})`
}

/** Returns the conditions of open and of closed items, as far as the filter wants them. */
function branchesOf({ status }: ItemFilter, isSnoozed: () => string): readonly (readonly string[])[] {
  const wants = (wanted: ItemFilter['status'][number]) => status.includes(wanted)
  const closed = (['DONE', 'RESOLVED'] as const).filter(wants)
  const open = wants('OPEN') ? (wants('SNOOZED') ? [[]] : [[`not ${isSnoozed()}`]]) : wants('SNOOZED') ? [[isSnoozed()]] : []
  return [
    ...open.map(more => [`t.status = 'OPEN'`, ...more]),
    ...(closed.length > 0 ? [[closed.length === 1 ? `t.status = '${closed[0]}'` : `t.status <> 'OPEN'`]] : []),
  ]
}

function comparisonsOf({ app, kind, severity, isMine }: ItemFilter, userId: string | null, bind: (value: unknown) => string): readonly string[] {
  const mine = () => (userId === null ? 'false' : `t.assignee_id = ${bind(userId)}`)
  return [
    ...(app === null ? [] : [`t.app = ${bind(app)}`]),
    ...(kind === null ? [] : [`t.kind = ${bind(kind)}`]),
    ...(severity === null ? [] : [`t.urgency = ${bind(urgencyOf(severity))}`]),
    ...(isMine ? [mine()] : []),
  ]
}

function pastOf(page: PageRequest | undefined, bind: (value: unknown) => string): readonly string[] {
  if (!page?.after) return []
  const [urgency, openedAt, id] = page.after
  return [`(t.urgency, t.opened_at, t.id) < (${bind(Number(urgency))}::smallint, ${bind(openedAt)}::timestamptz, ${bind(id)}::uuid)`]
}
