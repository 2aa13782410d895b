import { DomainError } from '../../../platform/errors.ts'
import type { Context } from '../context.ts'
import { registration } from '../registration.ts'
import { RightsOfApproverDocument } from './ask.generated.ts'

/**
 * Checks that each of these persons is a member of the organization at this moment. Members of other organizations and
 * unknown ids are rejected alike.
 * @throws BAD_USER_INPUT with the ids of those who are not members
 */
export async function requireMembers({ ask, viewer }: Context, organizationId: string, userIds: readonly string[]): Promise<void> {
  const rights = await Promise.all(userIds.map(userId => ask(RightsOfApproverDocument, { userId, organizationId }, { appId: registration.appId, viewer })))
  const strangers = userIds.filter((_, at) => !rights[at]!.memberRights)
  if (strangers.length)
    throw new DomainError('BAD_USER_INPUT', `approverIds names ${strangers.join(', ')}, not a member of the organization: leave out who is none.`, {
      field: 'approverIds',
      ids: strangers,
    })
}
