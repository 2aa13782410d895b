import type { Sequelize, Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'

const find = statement('select organization_id as id from providers.platform')
const keep = statement(
  `insert into providers.platform (organization_id) values ($1)
   on conflict (one) do update set organization_id = excluded.organization_id where platform.organization_id <> excluded.organization_id`,
)

/** Identity's slug of the administering organization. */
export const slugOfAdmins = 'admin'

/**
 * The organization that administers the platform: events of platform credentials and limits go there, and into its
 * audit log.
 */
export interface PlatformOrganization {
  /** Returns its id; null before it is known. */
  find(transaction?: Transaction): Promise<string | null>
  /** Stores its id, from the fact of its creation, or from a person's role. */
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
