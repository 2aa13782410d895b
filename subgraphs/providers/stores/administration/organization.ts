import type { Sequelize, Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, selectList, stamps, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export type PromptStorage = 'OFF' | 'REDACTED' | 'FULL'

/** Settings of organizations for the gateway. */
export const organizations = table('providers.organizations', {
  id: uuid.key,
  organizationId: uuid,
  status: text.of<'ACTIVE' | 'SUSPENDED'>().or('ACTIVE'),
  promptStorage: text.of<PromptStorage>().or('OFF'),
  retentionDays: integer.or(30),
  /** The organization's founder; null when identity did not name one. */
  foundedBy: uuid.maybe,
  /** Whether it may spend what the platform allows by default: one organization of each founder may. */
  hasAllowance: truth.or(true),
  ...stamps,
})

export type ProviderOrganizationRow = Row<typeof organizations>

/** The part of an organization's record that affects its calls. */
export type OrganizationRules = Pick<ProviderOrganizationRow, 'status' | 'promptStorage' | 'retentionDays'>

/** A concurrent creation waits here and finds the record. */
const ensure = statement(
  `insert into providers.organizations (id, organization_id, created_at, updated_at, created_by) values ($1, $2, $3, $3, $4)
   on conflict (organization_id) do nothing returning id`,
)
/** Organizations of one founder are recorded one after another. */
const lockFounder = transactionLock('providers.founder')
const found = statement(
  `with founded as (
     update providers.organizations
        set founded_by = $2::uuid,
            has_allowance = not exists (select from providers.organizations other where other.founded_by = $2::uuid and other.has_allowance)
      where organization_id = $1 and founded_by is null
      returning organization_id::text as id, has_allowance
   )
   update providers.spend_limits set has_allowance = false
     from founded
    where not founded.has_allowance and scope_type = 'PLATFORM_CREDENTIALS' and scope_value = founded.id and is_default`,
)
const keepPrompts = statement(
  `update providers.calls set prompt_until = least(prompt_until, created_at + make_interval(days => $2))
    where organization_id = $1 and prompt is not null and prompt_until > created_at + make_interval(days => $2)`,
)
const dropPrompts = statement('update providers.calls set prompt = null, prompt_until = null where organization_id = $1 and prompt is not null')

const find = statement(`select ${selectList(organizations, 't')} from providers.organizations t where t.organization_id = $1`)

const organizationSql = (rows: Rows<typeof organizations>) => ({
  /** Returns the record of an organization in its present state: at most one. */
  of: (organizationId: string): Promise<readonly ProviderOrganizationRow[]> => rows.read(find, [organizationId]),

  /** Creates the record of an organization that has none. @returns whether it was created now */
  async ensure(id: string, organizationId: string, now: Date, actor: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read<{ id: string }>(ensure, [id, organizationId, now, actor], transaction)).length > 0
  },

  /**
   * Records who founded an organization. The first recorded one of a founder keeps the platform's allowance; the limit
   * of any other, where a call made it already, allows nothing as soon as it follows the setting again.
   */
  async found(organizationId: string, foundedBy: string, transaction: Transaction): Promise<void> {
    await rows.read(lockFounder, [foundedBy], transaction)
    await rows.read(found, [organizationId, foundedBy], transaction)
  },

  /** Sets the expiry of stored prompts, in days or at once. */
  async keepPrompts(organizationId: string, days: number | null, transaction: Transaction): Promise<void> {
    await (days === null ? rows.read(dropPrompts, [organizationId], transaction) : rows.read(keepPrompts, [organizationId, days], transaction))
  },
})

/** Each organization has one record; the right to provision other organizations is checked before. */
export const providerOrganizationStore = store(
  organizations,
  {
    what: 'record of an organization',
    tenancy: { everybody: 'it is looked up by the active organization, or by one that a platform admin or a service has named' },
  },
  organizationSql,
)

const statusOf = statement('select status from providers.organizations where organization_id = $1')

/**
 * Returns the status of an organization in its state within a transaction; an organization without a record may call.
 */
export async function statusWithin(sequelize: Sequelize, id: string, transaction: Transaction): Promise<ProviderOrganizationRow['status']> {
  const [found] = await rows<Pick<ProviderOrganizationRow, 'status'>>(sequelize, statusOf, [id], transaction)
  return found?.status ?? 'ACTIVE'
}
