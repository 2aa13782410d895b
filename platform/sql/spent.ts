import type { Sequelize } from 'sequelize'
import { rows, statement } from './statement.ts'

/**
 * Marks challenges (`platform/caller/challenge.ts`) as used, each once over all processes of a service.
 * @param slug the SQL schema with the table `spent_challenges`
 */
export function spentChallenges(sequelize: Sequelize, slug: string): (hash: Uint8Array, expiresAt: Date) => Promise<boolean> {
  // A second request with the same solution waits here until the first one commits or fails.
  const spend = statement(`insert into ${slug}.spent_challenges (hash, expires_at) values ($1, $2) on conflict do nothing returning hash`)
  return async (hash, expiresAt) => (await rows(sequelize, spend, [hash, expiresAt])).length > 0
}

/** Retention of used challenges: an expired challenge is rejected anyway, so its use need not be remembered. */
export const agingOfChallenges = (slug: string) => ({ table: `${slug}.spent_challenges`, days: 1, old: 'o.expires_at < $1', order: 'o.expires_at' })
