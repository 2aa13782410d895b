import { DomainError } from '../../../platform/errors.ts'
import { activeOrganization } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { Gate } from '../stores/workflow.ts'

/** Requires that those who decide at a gate are members of the active organization. @throws BAD_USER_INPUT with the field */
export async function requireMembers({ viewer, isMember }: Pick<Context, 'viewer' | 'isMember'>, gate: Gate | null, field: string): Promise<void> {
  const organizationId = activeOrganization(viewer, 'Approvals')
  const are = await Promise.all((gate?.approvers ?? []).map(id => isMember(id, organizationId, viewer)))
  if (!are.every(Boolean))
    throw new DomainError('BAD_USER_INPUT', `${field}.approvers names a person who is not a member of the organization.`, { field: `${field}.approvers` })
}
