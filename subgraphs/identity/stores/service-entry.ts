import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import type { Registration } from '../../subgraph.ts'

const { createdBy: _, ...times } = stamps

export const serviceEntries = table('identity.service_entries', {
  id: uuid.key,
  environment: text,
  slug: text,
  appId: text,
  title: text,
  contexts: texts,
  icon: text,
  scopes: json.of<readonly { readonly name: string; readonly meaning: string }[]>(),
  asks: texts,
  widgetAudience: text.maybe,
  lifecycle: text,
  kind: text.or('application'),
  capabilities: texts.or([]),
  mobileApps: json.of<Registration['mobileApps']>().or([]),
  /** Addresses by role, such as `graphql` or `rest`. */
  addresses: json.of<Readonly<Record<string, string>>>(),
  /** `platform`, or the organization that created the entry. */
  owner: text,
  /** End of the maintenance, also of a former one; null when none was set. */
  maintenanceUntil: moment.maybe,
  /** Message for people during the maintenance. */
  maintenanceMessage: text.maybe,
  ...times,
})

export type ServiceEntryRow = Row<typeof serviceEntries>

/** An address of a service in the form that is shown. */
export interface ServiceAddress {
  readonly role: string
  readonly url: string
  readonly environment: string
}

/** Takes the lock under which the registry is synchronised. */
const lockRegistry = transactionLock('identity.service_entries', 0)
const findAll = statement(`select ${selectList(serviceEntries, 't')} from identity.service_entries t where t.environment = $1`)

const findConflicts = statement('select slug, reason from identity.service_conflicts where environment = $1')
const keepConflict = statement(
  `insert into identity.service_conflicts (environment, slug, reason, since) values ($1, $2, $3, $4)
   on conflict (environment, slug) do update set reason = excluded.reason, since = excluded.since`,
)
const dropConflict = statement('delete from identity.service_conflicts where environment = $1 and slug = $2')

/** The organization whose managers administer the platform. */
const findAdmins = statement(`select id from identity.organizations where slug = 'admin'`)

const registrySql = (rows: Rows<typeof serviceEntries>) => ({
  /**
   * Returns all entries of an environment, and locks the registry: no other process synchronizes it before the
   * transaction ends.
   */
  async lockAll(environment: string, transaction: Transaction): Promise<readonly ServiceEntryRow[]> {
    await rows.read(lockRegistry, [], transaction)
    return rows.read(findAll, [environment], transaction)
  },
  /** Returns the reasons why services of an environment could not be registered the last time, by slug. */
  async conflicts(environment: string, transaction: Transaction): Promise<ReadonlyMap<string, string>> {
    const found = await rows.read<{ slug: string; reason: string }>(findConflicts, [environment], transaction)
    return new Map(found.map(({ slug, reason }) => [slug, reason]))
  },
  async keepConflict(environment: string, slug: string, reason: string, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(keepConflict, [environment, slug, reason, now], transaction)
  },
  async dropConflict(environment: string, slug: string, transaction: Transaction): Promise<void> {
    await rows.read(dropConflict, [environment, slug], transaction)
  },
  /** Returns the organization `admin`; null when there is none. */
  async adminOrganization(transaction: Transaction): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(findAdmins, [], transaction)
    return found?.id ?? null
  },
})

export const serviceEntryStore = store(
  serviceEntries,
  {
    what: 'service',
    tenancy: { everybody: 'the registry says what the platform offers, which is the same for everybody' },
    manyBy: { environment: 't.slug' },
  },
  registrySql,
)
