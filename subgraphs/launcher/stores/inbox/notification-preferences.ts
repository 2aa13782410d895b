import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
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
  /** When the next digest is due; null for none. */
  digestAt: moment.maybe,
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

const nextDigest = statement('select t.digest_at as at from launcher.notification_preferences t where t.digest_at is not null order by t.digest_at limit 1')
const dueDigests = statement(
  `select t.user_id as "userId", t.digest_at as "digestAt" from launcher.notification_preferences t where t.digest_at <= $1 order by t.digest_at limit $2`,
)
const lockDigest = statement(
  `select ${selectList(preferences, 't')} from launcher.notification_preferences t where t.user_id = $1 and t.digest_at <= $2 for no key update skip locked`,
)
const scheduleDigest = statement('update launcher.notification_preferences set digest_at = $2 where user_id = $1')
const postponeDigest = statement('update launcher.notification_preferences set digest_at = $3 where user_id = $1 and digest_at = $2')

/** A digest whose time has come. */
export type DueDigest = { readonly userId: string; readonly digestAt: Date }

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

  /** Returns when the next digest of anybody is due; null while nobody wants one. */
  nextDigest: async (): Promise<Date | null> => (await rows.read<{ at: Date }>(nextDigest, []))[0]?.at ?? null,

  /** Returns digests that are due, the longest due first. */
  dueDigests: (now: Date, limit: number): Promise<DueDigest[]> => rows.read<DueDigest>(dueDigests, [now, limit]),

  /** Locks the preferences of a person whose digest is due; null when it was sent, or another process sends it. */
  async lockDigest(userId: string, now: Date, transaction: Transaction): Promise<(PreferencesRow & { readonly digestAt: Date }) | null> {
    const [row] = await rows.read(lockDigest, [userId, now], transaction)
    return (row as (PreferencesRow & { readonly digestAt: Date }) | undefined) ?? null
  },

  /** Has a person's next digest sent at a moment. @param at null for none */
  async scheduleDigest(userId: string, at: Date | null, transaction: Transaction): Promise<void> {
    await rows.read(scheduleDigest, [userId, at], transaction)
  },

  /** Puts off a digest that could not be sent, unless another process has sent it. */
  async postponeDigest({ userId, digestAt }: DueDigest, until: Date): Promise<void> {
    await rows.read(postponeDigest, [userId, digestAt, until])
  },
})

export const preferencesStore = store(preferences, { what: 'preferences', tenancy: { where: 't.user_id = :person' } }, ownSql)
