import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

export type LaunchSource = 'WIDGET' | 'CATALOGUE' | 'SWITCHER' | 'ACTION' | 'WORKFLOW'
export type LaunchPlatform = 'WEB' | 'IOS' | 'ANDROID'
export type LaunchFailureCode =
  | 'NOT_INSTALLED'
  | 'NOT_ENTITLED'
  | 'NO_SEAT'
  | 'NOT_LAUNCHABLE'
  | 'CONTEXT'
  | 'RATE_LIMITED'
  | 'MAINTENANCE'
  | 'HANDOFF_FAILED'
  | 'CLIENT_FAILED'

export const launches = table('launcher.launches', {
  id: uuid.key,
  userId: uuid,
  /** Null in personal context. */
  organizationId: uuid.maybe,
  app: text,
  title: text,
  status: text.of<'READY' | 'OPENED' | 'FAILED'>(),
  source: text.of<LaunchSource>(),
  platform: text.of<LaunchPlatform>(),
  /** The service that the code is for; null where there is no code. */
  serviceId: uuid.maybe,
  /** Hash of the code, by which its link is recognized. */
  codeHash: text.maybe,
  expiresAt: moment.maybe,
  failureCode: text.maybe.of<LaunchFailureCode | null>(),
  failureMessage: text.maybe,
  retryable: truth.maybe,
  /** When another launch may succeed; null when nobody knows. */
  retryAt: moment.maybe,
  ...stamps,
})

export type LaunchRow = Row<typeof launches>

/** Launches of a person within a period. */
export interface Lately {
  /** Those that were not refused for their number. */
  readonly made: number
  /** Those that were. */
  readonly limited: number
  /** When the first of `made` was; null without one. */
  readonly since: Date | null
}

/** One launch of a person is counted and written at a time. */
const lockPerson = transactionLock('launcher.launch', 1)
const countLately = statement(
  `select count(*) filter (where failure_code is distinct from 'RATE_LIMITED')::int as made,
     count(*) filter (where failure_code = 'RATE_LIMITED')::int as limited,
     min(created_at) filter (where failure_code is distinct from 'RATE_LIMITED') as since
     from launcher.launches where user_id = $1 and created_at > $2`,
)
const byCode = statement(
  `select ${selectList(launches, 't')} from launcher.launches t where t.code_hash = $1 and t.service_id = $2 and t.expires_at > $3 and t.status <> 'FAILED'`,
)

const ofPerson = `l.user_id = $1 and l.organization_id is not distinct from $2::uuid and l.created_at >= $3 and l.status <> 'FAILED'`
const countSince = statement(`select count(*)::int as count from launcher.launches l where ${ofPerson}`)

/** Whose launches they are: a person's in a context. */
export type LaunchOwner = Pick<LaunchRow, 'organizationId' | 'userId'>

const ownSql = (rows: Rows<typeof launches>) => ({
  /** Counts a person's launches since a moment, and keeps the person's other launches waiting until the transaction ends. */
  async countLately(userId: string, since: Date, transaction: Transaction): Promise<Lately> {
    await rows.read(lockPerson, [userId], transaction)
    return (await rows.read<Lately>(countLately, [userId, since], transaction))[0]!
  },

  /** Counts a person's launches since a moment that did not fail. */
  countSince: async ({ organizationId, userId }: LaunchOwner, since: Date): Promise<number> =>
    (await rows.read<{ count: number }>(countSince, [userId, organizationId, since]))[0]!.count,

  /** Returns the launch that made a code for a service, while the code lasts; null for every other code. */
  async ofCode(codeHash: string, serviceId: string, now: Date): Promise<LaunchRow | null> {
    return (await rows.read(byCode, [codeHash, serviceId, now]))[0] ?? null
  },
})

/** Condition for launches of the viewer in the active context. */
const seen = 't.user_id = :person and t.organization_id is not distinct from :organization::uuid'

export const launchStore = store(launches, { what: 'launch', tenancy: { where: seen }, filters: { isHidden: (hides: boolean) => `${!hides}` } }, ownSql)
