import { QueryTypes, type Sequelize } from 'sequelize'
import type { Sweep } from '../../../platform/jobs.ts'
import type { Room } from '../room.ts'

/** For how many days records are kept that nothing rests on any more. */
export interface Retention {
  /** Of the audit. */
  readonly auditDays: number
  /** Of attempts to deliver: at least 8, for a network may call a text a duplicate of one that is seven days old. */
  readonly attemptDays: number
}

const dayMs = 86_400_000
/** How often what is old is looked for, in ms, and how many rows of each kind one round removes: 1.4 million a day. */
const everyMs = 60_000
const atOnce = 1_000

/** What is removed: the table, its key, and which of its rows, the oldest first; `$1` is the moment before which they lie. */
const kinds = [
  { table: 'audit_entries', key: 'brand_id, id', days: ({ auditDays }: Retention) => auditDays, old: 'o.at < $1', order: 'o.at' },
  {
    table: 'attempts',
    key: 'brand_id, id',
    days: ({ attemptDays }: Retention) => attemptDays,
    // What is under way, or asked about, rests on its attempt.
    old: `o.started_at < $1 and o.reconcile_at is null and not exists (
      select from publishing.posts p where p.brand_id = o.brand_id and p.id = o.post_id and p.delivery_phase in ('SENDING', 'UNKNOWN'))`,
    order: 'o.started_at',
  },
  { table: 'authorizations', key: 'brand_id, state_hash', days: () => 1, old: 'o.expires_at < $1', order: 'o.expires_at' },
] as const

/** Removes what is older than it is to be kept, a bounded number of rows a round. Any number of processes may do so at the same time. */
export const retention = (room: () => Pick<Room, 'sequelize' | 'clock' | 'retention'>): Sweep => ({
  name: 'what is old',
  everyMs,
  async run() {
    const { sequelize, clock, retention: kept } = room()
    for (const kind of kinds) await remove(sequelize, kind, new Date(clock.now().getTime() - kind.days(kept) * dayMs))
  },
})

const remove = (sequelize: Sequelize, { table, key, old, order }: (typeof kinds)[number], before: Date): Promise<unknown> =>
  sequelize.query(
    `delete from publishing.${table} where (${key}) in (
       select ${key} from publishing.${table} o where ${old} order by ${order} limit $2 for update of o skip locked)`,
    { bind: [before, atOnce], type: QueryTypes.RAW },
  )
