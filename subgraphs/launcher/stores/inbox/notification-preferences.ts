import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** By which ways a person is told what fits. */
export interface PreferenceRule {
  /** Slug of an app, or `*` for all. */
  readonly app: string
  /** Kind of what is told, or `*` for all. */
  readonly kind: string
  readonly inApp: boolean
  readonly email: boolean
  readonly push: boolean
}

/** When a person gets one mail of what waits. */
export interface Digest {
  readonly frequency: 'OFF' | 'DAILY' | 'WEEKLY'
  /** Local time: `08:00`. */
  readonly at: string
  readonly weekday: 'MONDAY' | 'TUESDAY' | 'WEDNESDAY' | 'THURSDAY' | 'FRIDAY' | 'SATURDAY' | 'SUNDAY'
}

const preferences = table('launcher.notification_preferences', {
  id: uuid.key,
  userId: uuid,
  timeZone: text,
  quietFrom: text.maybe,
  quietTo: text.maybe,
  digest: json,
  rules: json,
  ...stamps,
})

export type PreferencesRow = Omit<Row<typeof preferences>, 'digest' | 'rules'> & {
  readonly digest: Digest
  readonly rules: readonly PreferenceRule[]
}

const lockPerson = transactionLock('launcher.preferences', 1)
const ofPerson = statement(`select ${selectList(preferences, 't')} from launcher.notification_preferences t where t.user_id = $1`)
const ofPeople = statement(
  `select t.user_id as "userId", t.time_zone as "timeZone", t.quiet_from as "quietFrom", t.quiet_to as "quietTo", t.rules
    from launcher.notification_preferences t where t.user_id = any($1::uuid[])`,
)

/** What says how and when a person is reached. */
export type Reaching = Pick<PreferencesRow, 'userId' | 'timeZone' | 'quietFrom' | 'quietTo' | 'rules'>

const ownSql = (rows: Rows<typeof preferences>) => ({
  /** Returns a person's preferences; null before the first change. */
  async of(userId: string): Promise<PreferencesRow | null> {
    return ((await rows.read(ofPerson, [userId]))[0] as PreferencesRow | undefined) ?? null
  },

  /** Returns a person's preferences, and keeps everybody else from changing them; null before the first change. */
  async lockOf(userId: string, transaction: Transaction): Promise<PreferencesRow | null> {
    await rows.read(lockPerson, [userId], transaction)
    return ((await rows.read(ofPerson, [userId], transaction))[0] as PreferencesRow | undefined) ?? null
  },

  /** Returns how people are reached who have said so. */
  async reachingOf(userIds: readonly string[], transaction: Transaction): Promise<ReadonlyMap<string, Reaching>> {
    const found = await rows.read<Reaching>(ofPeople, [userIds], transaction)
    return new Map(found.map(each => [each.userId, each]))
  },
})

export const preferencesStore = store(preferences, { what: 'preferences', tenancy: { where: 't.user_id = :person' } }, ownSql)
