import { type Authority, type Standing, standingOf } from '../../../subgraphs/authority.ts'
import { createSessionCache } from './session-cache.ts'

/** Whether somebody is a member of an organization, as identity knew it within the last second. */
export type IsMember = (userId: string, organizationId: string) => Promise<boolean>

/** Reads memberships from identity, those of one turn of the event loop together. */
export function createIsMember(authority: Pick<Authority, 'standings'>): IsMember {
  const standings = createSessionCache<Standing>(asked => authority.standings(asked))
  return async (userId, organizationId) => Boolean((await standings.of(standingOf({ organizationId, userId })))?.roles)
}
