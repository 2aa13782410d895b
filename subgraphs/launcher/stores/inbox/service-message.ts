import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, selectList, table, text } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { type ActionItemRow, actionItems } from './action-item.ts'

/** Messages of the notification service that were taken: each counts once. */
const serviceMessages = table('launcher.service_messages', { id: text.key, at: moment })

const note = statement('insert into launcher.service_messages (id, at) values ($1, $2) on conflict (id) do nothing returning id')
const lockItem = transactionLock('launcher.service-item', 1)
const openItems = statement(`select ${selectList(actionItems, 't')} from launcher.action_items t where t.app = 'notifications' and t.status = 'OPEN'`)

const ownSql = (rows: Rows<typeof serviceMessages>) => ({
  /** Notes a message. @returns false for one that was taken before */
  isFirst: async (id: string, at: Date, transaction: Transaction): Promise<boolean> => (await rows.read(note, [id, at], transaction)).length > 0,

  /** Keeps everybody else from opening or closing an item, also while there is none. */
  async lockItem(key: string, transaction: Transaction): Promise<void> {
    await rows.read(lockItem, [key], transaction)
  },

  /** Returns the service's items that are open here. */
  openItems: (): Promise<ActionItemRow[]> => rows.read<ActionItemRow>(openItems, []),
})

export const serviceMessageStore = store(serviceMessages, { what: 'message of the notification service', tenancy: { where: 'false' } }, ownSql)

export type ServiceMessageStore = ReturnType<(typeof serviceMessageStore)['open']>
