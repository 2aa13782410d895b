import type { Sequelize, Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'

const find = statement('select organization_id as id from providers.platform')
const keep = statement(
  `insert into providers.platform (organization_id) values ($1)
   on conflict (one) do update set organization_id = excluded.organization_id where platform.organization_id <> excluded.organization_id`,
)

/** What identity calls the organization that looks after the platform. */
export const slugOfAdmins = 'admin'

/** Which organization looks after the platform: what happens to its own credentials and limits is told there, and stands in its record. */
export interface PlatformOrganization {
  /** Null where nobody does yet. */
  find(transaction?: Transaction): Promise<string | null>
  /** Remembers it: by the fact that it was made, or by a person whose role says it. */
  learn(organizationId: string, transaction?: Transaction): Promise<void>
}

export function createPlatformOrganization(sequelize: Sequelize): PlatformOrganization {
  let known: string | null = null
  return {
    async find(transaction) {
      if (known !== null) return known
      const [found] = await rows<{ id: string }>(sequelize, find, [], transaction)
      known = found?.id ?? null
      return known
    },
    async learn(organizationId, transaction) {
      if (known === organizationId) return
      await rows(sequelize, keep, [organizationId], transaction)
      if (!transaction) known = organizationId
    },
  }
}
