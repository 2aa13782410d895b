import type { Sequelize, Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export type PromptStorage = 'OFF' | 'REDACTED' | 'FULL'

/** How organizations use the gateway. */
export const organizations = table('providers.organizations', {
  id: uuid.key,
  organizationId: uuid,
  status: text.of<'ACTIVE' | 'SUSPENDED'>().or('ACTIVE'),
  promptStorage: text.of<PromptStorage>().or('OFF'),
  retentionDays: integer.or(30),
  ...stamps,
})

export type ProviderOrganizationRow = Row<typeof organizations>

/** What of an organization's record its calls go by. */
export type OrganizationRules = Pick<ProviderOrganizationRow, 'status' | 'promptStorage' | 'retentionDays'>

/** Whoever makes it at the same moment waits here, and finds it. */
const ensure = statement(
  `insert into providers.organizations (id, organization_id, created_at, updated_at, created_by) values ($1, $2, $3, $3, $4)
   on conflict (organization_id) do nothing returning id`,
)
const keepPrompts = statement(
  `update providers.calls set prompt_until = least(prompt_until, created_at + make_interval(days => $2))
    where organization_id = $1 and prompt is not null and prompt_until > created_at + make_interval(days => $2)`,
)
const dropPrompts = statement('update providers.calls set prompt = null, prompt_until = null where organization_id = $1 and prompt is not null')

const find = statement(`select ${selectList(organizations, 't')} from providers.organizations t where t.organization_id = $1`)

const organizationSql = (rows: Rows<typeof organizations>) => ({
  /** The record of an organization, as it stands: at most one. */
  of: (organizationId: string): Promise<readonly ProviderOrganizationRow[]> => rows.read(find, [organizationId]),

  /** Makes the record of an organization that has none. @returns whether it was made now */
  async ensure(id: string, organizationId: string, now: Date, actor: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read<{ id: string }>(ensure, [id, organizationId, now, actor], transaction)).length > 0
  },

  /** Sets the expiry of stored prompts, in days or at once. */
  async keepPrompts(organizationId: string, days: number | null, transaction: Transaction): Promise<void> {
    await (days === null ? rows.read(dropPrompts, [organizationId], transaction) : rows.read(keepPrompts, [organizationId, days], transaction))
  },
})

/** An organization has one; who provisions others is asked for it before. */
export const providerOrganizationStore = store(
  organizations,
  {
    what: 'record of an organization',
    tenancy: { everybody: 'it is looked up by the active organization, or by one that a platform admin or a service has named' },
  },
  organizationSql,
)

const statusOf = statement('select status from providers.organizations where organization_id = $1')

/** Whether an organization may call, as it stands in a transaction; one without a record may. */
export async function statusWithin(sequelize: Sequelize, id: string, transaction: Transaction): Promise<ProviderOrganizationRow['status']> {
  const [found] = await rows<Pick<ProviderOrganizationRow, 'status'>>(sequelize, statusOf, [id], transaction)
  return found?.status ?? 'ACTIVE'
}
