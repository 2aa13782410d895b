import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, table, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'

/** Items that one person does not want to see before a moment. */
const snoozes = table('launcher.action_item_snoozes', {
  userId: uuid.key,
  itemId: uuid.key,
  until: moment,
  /** When the item came back, at its time or earlier. */
  wokenAt: moment.maybe,
  updatedAt: moment,
})

/** A snooze that ended, and the context of its item. */
export interface Woken {
  readonly userId: string
  readonly itemId: string
  readonly organizationId: string | null
  readonly updatedAt: Date
}

const standing = 'z.woken_at is null and z.until > $2'
const ofItems = statement(
  `select z.item_id as "itemId", z.until from launcher.action_item_snoozes z where z.user_id = $1 and z.item_id = any($3::uuid[]) and ${standing}`,
)
const count = statement(`select count(*)::int as count from launcher.action_item_snoozes z where z.user_id = $1 and ${standing}`)
const put = statement(
  `insert into launcher.action_item_snoozes (user_id, item_id, until, updated_at) values ($1, $2, $3, $4)
   on conflict (user_id, item_id) do update set until = excluded.until, woken_at = null, updated_at = excluded.updated_at`,
)
const wake = (where: string) =>
  `update launcher.action_item_snoozes z set woken_at = $1, updated_at = $1 from launcher.action_items t
    where t.id = z.item_id and z.woken_at is null and ${where}
    returning z.user_id as "userId", z.item_id as "itemId", t.organization_id as "organizationId", z.updated_at as "updatedAt"`
const wakeOne = statement(wake('z.user_id = $2 and z.item_id = $3'))
const wakeDue = statement(
  wake(`(z.user_id, z.item_id) in (select d.user_id, d.item_id from launcher.action_item_snoozes d
    where d.woken_at is null and d.until <= $1 order by d.until limit $2 for update skip locked)`),
)
const nextDue = statement('select z.until from launcher.action_item_snoozes z where z.woken_at is null order by z.until limit 1')
const forget = statement('delete from launcher.action_item_snoozes where item_id = $1')
const changed = statement(
  `select z.item_id as "itemId", z.updated_at as "updatedAt" from launcher.action_item_snoozes z join launcher.action_items t on t.id = z.item_id
    where z.user_id = $1 and t.organization_id is not distinct from $2::uuid and z.updated_at >= $3 order by z.updated_at desc limit 200`,
)

const snoozeSql = (rows: Rows<typeof snoozes>, { reading, viewer, clock }: StoreContext) => {
  const own = createLoader<string, Date | null>(reading, async ids => {
    const found = await rows.read<{ itemId: string; until: Date }>(ofItems, [viewer!.userId, clock.now(), ids])
    const byItem = new Map(found.map(({ itemId, until }) => [itemId, until]))
    return ids.map(id => byItem.get(id) ?? null)
  })
  return {
    /** Loads until when the viewer has snoozed an item; null when the item is awake. */
    untilOf: async (itemId: string): Promise<Date | null> => (viewer?.userId ? own.load(itemId) : null),

    /** Counts the items that a person has snoozed. */
    count: async (userId: string, now: Date, transaction: Transaction): Promise<number> =>
      (await rows.read<{ count: number }>(count, [userId, now], transaction))[0]!.count,

    async put(userId: string, itemId: string, until: Date, now: Date, transaction: Transaction): Promise<void> {
      await rows.read(put, [userId, itemId, until, now], transaction)
      own.clear(itemId)
    },

    /** Ends a person's snooze of an item, if there is one. */
    async wake(userId: string, itemId: string, now: Date, transaction: Transaction): Promise<void> {
      await rows.read(wakeOne, [now, userId, itemId], transaction)
      own.clear(itemId)
    },

    /** Ends snoozes whose time has come, a bounded number. */
    wakeDue: (now: Date, limit: number, transaction: Transaction): Promise<Woken[]> => rows.read<Woken>(wakeDue, [now, limit], transaction),

    /** Returns when the next snooze ends; null without one. */
    nextDue: async (): Promise<Date | null> => (await rows.read<{ until: Date }>(nextDue, []))[0]?.until ?? null,

    /** Forgets everybody's snooze of an item. */
    async forget(itemId: string, transaction: Transaction): Promise<void> {
      await rows.read(forget, [itemId], transaction)
    },

    /** Returns a person's snoozes in a context that began or ended since a moment, the latest first; a few hundred at most. */
    changedSince: (userId: string, organizationId: string | null, since: Date) =>
      rows.read<{ itemId: string; updatedAt: Date }>(changed, [userId, organizationId, since]),
  }
}

export const snoozeStore = store(snoozes, { what: 'snooze', tenancy: { where: 't.user_id = :person' } }, snoozeSql)
