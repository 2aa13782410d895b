import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Audience } from './action-item.ts'
import type { Severity } from './action-item-list.ts'

/** What people are about to be told, until each of them has a notification. */
const notices = table('launcher.notices', {
  id: uuid.key,
  organizationId: uuid.maybe,
  audience: text.of<Audience>(),
  /** The person, for the audience of one. */
  userId: uuid.maybe,
  app: text,
  kind: text,
  title: text,
  body: text.maybe,
  url: text.maybe,
  severity: text.of<Severity>(),
  scope: text.maybe,
  /** The action item that it is about, which is listed already; null for news, which become notifications. */
  itemId: uuid.maybe,
  /** Whether it comes in the app alone, whatever people want: an item says the same. */
  isInAppOnly: truth.or(false),
  createdAt: moment,
})

export type NoticeRow = Row<typeof notices>

const select = `select ${selectList(notices, 't')} from launcher.notices t`
const oldest = statement(`${select} order by t.created_at, t.id limit $1`)
const lockIfFree = statement(`${select} where t.id = $1 for update skip locked`)

const noticeSql = (rows: Rows<typeof notices>) => ({
  /** Returns notices that are not delivered yet, the oldest first. */
  oldest: (limit: number): Promise<NoticeRow[]> => rows.read(oldest, [limit]),

  /** Locks a notice; null when it is delivered, or another process delivers it. */
  async lockIfFree(id: string, transaction: Transaction): Promise<NoticeRow | null> {
    return (await rows.read(lockIfFree, [id], transaction))[0] ?? null
  },
})

export const noticeStore = store(notices, { what: 'notice', tenancy: { where: 'false' } }, noticeSql)
