import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Browsers of people that take push messages. */
export const pushSubscriptions = table('launcher.push_subscriptions', {
  id: uuid.key,
  userId: uuid,
  /** Of endpoint and keys, which are one browser's. */
  hash: text,
  /** Endpoint and keys, encrypted: whoever has them can write to the browser. */
  sealed: text,
  ...stamps,
})

export type PushSubscriptionRow = Row<typeof pushSubscriptions>

/** Where a subscription's endpoint and keys are bound to, by the cipher. */
export const placeOfSubscription = (id: string): string => `launcher.push_subscriptions:${id}`

/** Endpoints and keys of subscriptions as they are stored. */
export const sealedSubscriptions: readonly SealedColumn[] = [{ table: 'launcher.push_subscriptions', key: 'id', column: 'sealed', about: placeOfSubscription }]

const lockPerson = transactionLock('launcher.push-subscriptions', 1)
const lockBrowser = transactionLock('launcher.push-browser', 1)
const columns = selectList(pushSubscriptions, 't')
const ofPerson = statement(`select ${columns} from launcher.push_subscriptions t where t.user_id = $1 order by t.created_at, t.id`)
const ofBrowser = statement(`select ${columns} from launcher.push_subscriptions t where t.hash = $1`)
const end = statement('delete from launcher.push_subscriptions t where t.id = $1')
const endAll = statement('delete from launcher.push_subscriptions t where t.user_id = $1')

const ownSql = (rows: Rows<typeof pushSubscriptions>) => ({
  /** Returns a person's subscriptions, the oldest first, and keeps everybody else from changing them. */
  async lockOf(userId: string, transaction: Transaction): Promise<PushSubscriptionRow[]> {
    await rows.read(lockPerson, [userId], transaction)
    return rows.read(ofPerson, [userId], transaction)
  },

  /** Returns the subscription of a browser, whoever has it, and keeps others from taking it; null without one. */
  async lockBrowser(hash: string, transaction: Transaction): Promise<PushSubscriptionRow | null> {
    await rows.read(lockBrowser, [hash], transaction)
    return (await rows.read(ofBrowser, [hash], transaction))[0] ?? null
  },

  /** Ends a subscription with the messages that wait for it. */
  async end(id: string, transaction: Transaction): Promise<void> {
    await rows.read(end, [id], transaction)
  },

  /** Ends all subscriptions of a person. */
  async endAll(userId: string, transaction: Transaction): Promise<void> {
    await rows.read(endAll, [userId], transaction)
  },
})

export const pushSubscriptionStore = store(pushSubscriptions, { what: 'push subscription', tenancy: { where: 't.user_id = :person' } }, ownSql)
