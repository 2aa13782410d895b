import type { Transaction } from 'sequelize'
import { isId } from '../../../../platform/ids.ts'
import { isMoment, type Order, type PageRequest } from '../../../../platform/page.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { keptStatements, statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import type { ServiceOperation } from '../../../scopes.ts'
import { filteredPages } from '../../../store/filter/pages.ts'
import { type Opening, type Rows, store } from '../../../store/store.ts'

/** Apps that call the gateway for themselves, and what each may have done. */
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

/** Oldest first. */
export const oldestFirst: Order<ServiceClientRow> = {
  name: 'serviceClients.oldest',
  position: client => [client.createdAt.toISOString(), client.id],
  parts: [isMoment, isId],
}

const columns = selectList(serviceClients, 'c')
const listed = keptStatements(3)
const page = ({ after, limit }: PageRequest) => ({
  text: `select ${columns} from providers.service_clients c
          ${after ? 'where (c.created_at, c.id) > ($2::timestamptz, $3::uuid)' : ''} order by c.created_at, c.id limit $1`,
  values: [limit, ...(after ?? [])],
})

/** Nobody makes another one before the transaction ends: their number is bounded, and an app has one. */
const lockAll = transactionLock('providers.service_clients')
const countOf = statement(`select count(*)::int as "inAll", count(*) filter (where app_id = $1)::int as alike from providers.service_clients`)
const byApp = statement(`select ${columns} from providers.service_clients c where c.app_id = $1`)

const clientSql = (rows: Rows<typeof serviceClients>, { reading }: Opening) => ({
  /** A page of all there are. */
  listed: filteredPages<ServiceClientRow, object>(rows, reading, {
    kept: listed,
    page: (_, request) => page(request),
    count: () => ({ text: 'select count(*)::int as count from providers.service_clients', values: [] }),
    order: () => oldestFirst,
  }),

  /** How many there are, and how many of the app. Nobody makes another one before the transaction ends. */
  async countedWith(appId: string, transaction: Transaction): Promise<{ readonly inAll: number; readonly alike: number }> {
    await rows.read(lockAll, ['service clients'], transaction)
    const [found] = await rows.read<{ inAll: number; alike: number }>(countOf, [appId], transaction)
    return found!
  },

  /** The client of an app. */
  async ofApp(appId: string, transaction?: Transaction): Promise<ServiceClientRow | null> {
    const [found] = await rows.read(byApp, [appId], transaction)
    return found ?? null
  },
})

export const serviceClientStore = store(
  serviceClients,
  { what: 'service client', tenancy: { everybody: 'platform admins alone ask for clients, whose organization has them all' } },
  clientSql,
)
