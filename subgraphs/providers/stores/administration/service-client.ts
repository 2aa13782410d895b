import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import type { ServiceOperation } from '../../../scopes.ts'
import { oldestFirst } from '../../../store/filter/filters.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Apps that call the gateway for themselves, with the operations that each may use. */
export const serviceClients = table('providers.service_clients', {
  id: uuid.key,
  appId: text,
  name: text,
  operations: texts.of<readonly ServiceOperation[]>(),
  active: truth,
  lastUsedAt: moment.maybe,
  ...stamps,
})

export type ServiceClientRow = Row<typeof serviceClients>

const columns = selectList(serviceClients, 'c')

/** Locks the creation of clients until the transaction ends, because their number is limited and each app has one. */
const lockAll = transactionLock('providers.service_clients')
const countOf = statement(`select count(*)::int as "inAll", count(*) filter (where app_id = $1)::int as alike from providers.service_clients`)
const byApp = statement(`select ${columns} from providers.service_clients c where c.app_id = $1`)

const clientSql = (rows: Rows<typeof serviceClients>) => ({
  /** Counts all clients, and those of an app. No other client is created before the transaction ends. */
  async countedWith(appId: string, transaction: Transaction): Promise<{ readonly inAll: number; readonly alike: number }> {
    await rows.read(lockAll, ['service clients'], transaction)
    const [found] = await rows.read<{ inAll: number; alike: number }>(countOf, [appId], transaction)
    return found!
  },

  /** Returns the client of an app. */
  async ofApp(appId: string, transaction?: Transaction): Promise<ServiceClientRow | null> {
    const [found] = await rows.read(byApp, [appId], transaction)
    return found ?? null
  },
})

export const serviceClientStore = store(
  serviceClients,
  {
    what: 'service client',
    tenancy: { everybody: 'platform admins alone ask for clients, whose organization has them all' },
    filters: {},
    sorted: oldestFirst,
  },
  clientSql,
)
