import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, table, text, uuid } from '../../../../platform/sql/table.ts'
import { dueInTurns } from '../../../../platform/sql/turns.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Audience } from './action-item.ts'
import type { Severity } from './action-item-list.ts'
import type { NoticeRow } from './notice.ts'

export type Way = 'MAIL' | 'PUSH'

/** What one person has yet to be told by one way: a mail, or a push message to one browser. */
export const messages = table('launcher.messages', {
  id: uuid.key,
  way: text.of<Way>(),
  userId: uuid,
  organizationId: uuid.maybe,
  audience: text.of<Audience>(),
  /** The browser of a push message. */
  subscriptionId: uuid.maybe,
  /** The action item, or the notification, that it is about. */
  itemId: uuid.maybe,
  notificationId: uuid.maybe,
  app: text,
  kind: text,
  title: text,
  body: text.maybe,
  url: text.maybe,
  severity: text.of<Severity>(),
  /** The end of the quiet hours that it came in: what waits for it leaves as one mail. Null: it leaves at once. */
  quietUntil: moment.maybe,
  attempts: integer.or(0),
  nextAttemptAt: moment,
  createdAt: moment,
})

export type MessageRow = Row<typeof messages>

/** Who gets a message by a way. */
export interface Receiver {
  readonly userId: string
  readonly notificationId: string | null
  /** Null: it leaves at once. */
  readonly quietUntil: Date | null
}

/** What finds a message whose turn it is. */
export type DueMessage = Pick<MessageRow, 'id' | 'userId' | 'organizationId' | 'quietUntil'>

const columns = selectList(messages, 't')
const said = `organization_id, audience, item_id, app, kind, title, body, url, severity`
const insertMails = statement(
  `insert into launcher.messages (id, way, user_id, notification_id, quiet_until, next_attempt_at, created_at, ${said})
   select gen_random_uuid(), 'MAIL', r.user_id, r.notification_id, r.quiet_until, coalesce(r.quiet_until, $4), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) r (user_id, notification_id, quiet_until)`,
)
const insertPushes = statement(
  `insert into launcher.messages (id, way, user_id, notification_id, subscription_id, next_attempt_at, created_at, ${said})
   select gen_random_uuid(), 'PUSH', r.user_id, r.notification_id, s.id, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
    from unnest($1::uuid[], $2::uuid[]) r (user_id, notification_id) join launcher.push_subscriptions s on s.user_id = r.user_id
   returning id`,
)
const turns = dueInTurns({ table: 'launcher.messages', party: 't.party', due: 'next_attempt_at', only: 't.way = $2' }, '$1', '$3', '$4')
const due = statement(
  `select t.id, t.user_id as "userId", t.organization_id as "organizationId", t.quiet_until as "quietUntil" from launcher.messages t
    where t.id in (${turns}) order by t.next_attempt_at`,
)
const next = statement('select t.next_attempt_at as at from launcher.messages t where t.way = $1 order by t.next_attempt_at limit 1')
const lockIfFree = statement(`select ${columns} from launcher.messages t where t.id = $1 for update skip locked`)
const lockPerson = transactionLock('launcher.quiet-mail', 1)
const quietOf = statement(`select ${columns} from launcher.messages t
  where t.way = 'MAIL' and t.user_id = $1 and t.quiet_until <= $2 order by t.created_at, t.id for update`)
const standing = statement(
  `select t.id from launcher.messages t left join launcher.action_items i on i.id = t.item_id left join launcher.notifications n on n.id = t.notification_id
    where t.id = any($1::uuid[]) and (t.item_id is null or i.status = 'OPEN') and (t.notification_id is null or n.read_at is null and n.archived_at is null)`,
)
const removeAll = statement('delete from launcher.messages t where t.id = any($1::uuid[])')
const postpone = statement('update launcher.messages t set next_attempt_at = $2, attempts = t.attempts + 1 where t.id = $1')
const retry = statement('update launcher.messages t set next_attempt_at = $2 where t.id = $1')
const requiet = statement(
  `update launcher.messages t set quiet_until = $2, next_attempt_at = $2 where t.user_id = $1 and t.quiet_until is not null and t.quiet_until <> $2`,
)
const forget = statement(
  `delete from launcher.messages t where t.user_id = $1 and ($2::uuid is null or t.organization_id = $2) and ($3 or t.audience = 'managers')`,
)

/** What a notice says, as parameters of the statements that write messages of it. */
const saidBy = ({ organizationId, audience, itemId, app, kind, title, body, url, severity }: NoticeRow) => [
  ...[organizationId, audience, itemId, app, kind, title, body, url, severity],
]

const messageSql = (rows: Rows<typeof messages>) => ({
  /** Writes a mail for each of some people. */
  async mail(notice: NoticeRow, to: readonly Receiver[], now: Date, transaction: Transaction): Promise<void> {
    const lists = [to.map(({ userId }) => userId), to.map(({ notificationId }) => notificationId), to.map(({ quietUntil }) => quietUntil)]
    await rows.read(insertMails, [...lists, now, ...saidBy(notice)], transaction)
  },

  /** Writes a message for each browser of some people. @returns how many these are */
  async push(notice: NoticeRow, to: readonly Omit<Receiver, 'quietUntil'>[], now: Date, transaction: Transaction): Promise<number> {
    const lists = [to.map(({ userId }) => userId), to.map(({ notificationId }) => notificationId)]
    return (await rows.read(insertPushes, [...lists, now, ...saidBy(notice)], transaction)).length
  },

  /** Returns messages that are due, those of each organization in turns. */
  due: (way: Way, now: Date, perParty: number, limit: number): Promise<DueMessage[]> => rows.read<DueMessage>(due, [now, way, perParty, limit]),

  /** Returns when the next message of a way is due; null without one. */
  next: async (way: Way): Promise<Date | null> => (await rows.read<{ at: Date }>(next, [way]))[0]?.at ?? null,

  /** Locks a message; null when it has left, or another process sends it. */
  lockIfFree: async (id: string, transaction: Transaction): Promise<MessageRow | null> => (await rows.read(lockIfFree, [id], transaction))[0] ?? null,

  /** Locks what waited for the end of a person's quiet hours, the oldest first. */
  async lockQuiet(userId: string, now: Date, transaction: Transaction): Promise<MessageRow[]> {
    await rows.read(lockPerson, [userId], transaction)
    return rows.read(quietOf, [userId, now], transaction)
  },

  /** Returns those whose item still waits and whose notification is not read yet. */
  async standing(ids: readonly string[], transaction: Transaction): Promise<ReadonlySet<string>> {
    return new Set((await rows.read<{ id: string }>(standing, [ids], transaction)).map(({ id }) => id))
  },

  async removeAll(ids: readonly string[], transaction: Transaction): Promise<void> {
    await rows.read(removeAll, [ids], transaction)
  },

  /** Puts a message off, and counts the attempt. */
  async postpone(id: string, until: Date, transaction: Transaction | null): Promise<void> {
    await rows.read(postpone, [id, until], transaction)
  },

  /** Has a message sent again at a moment. */
  async retry(id: string, at: Date, transaction: Transaction): Promise<void> {
    await rows.read(retry, [id, at], transaction)
  },

  /** Has what waits for the end of a person's quiet hours wait for another moment. */
  async requiet(userId: string, until: Date, transaction: Transaction): Promise<void> {
    await rows.read(requiet, [userId, until], transaction)
  },

  /**
   * Forgets what a person has yet to be told.
   * @param organizationId null for everything
   * @param all whether all of it, or only what is for managers
   */
  async forget(userId: string, organizationId: string | null, all: boolean, transaction: Transaction): Promise<void> {
    await rows.read(forget, [userId, organizationId, all], transaction)
  },
})

export const messageStore = store(messages, { what: 'message', tenancy: { where: 'false' } }, messageSql)

export type Messages = ReturnType<(typeof messageStore)['open']>
