import { type Authority, type Standing, standingOf } from '../../../subgraphs/authority.ts'
import { createSessionCache } from './session-cache.ts'

/** Whether a person is a member of an organization, as of at most a second ago. */
export type IsMember = (userId: string, organizationId: string) => Promise<boolean>

/** Reads memberships from identity in batches, one for each turn of the event loop. */
export function createIsMember(authority: Pick<Authority, 'standings'>): IsMember {
  const standings = createSessionCache<Standing>(asked => authority.standings(asked))
  return async (userId, organizationId) => Boolean((await standings.of(standingOf({ organizationId, userId })))?.roles)
}
