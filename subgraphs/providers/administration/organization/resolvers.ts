import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization, isPerson, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, UpdateProviderOrganizationInput } from '../../resolvers.generated.ts'
import type { ProviderOrganizationRow } from '../../stores/administration/organization.ts'
import { provision } from './provision.ts'

const platformRoles: readonly string[] = ['platform_admin', 'platform_super_admin']

/** Whether a viewer may provision any organization. */
const provisionsAny = (viewer: Viewer): boolean => viewer.kind === 'service' || (isPerson(viewer) && viewer.roles.some(role => platformRoles.includes(role)))

/** Maximum days for which prompts are stored: as long as calls are. */
const mostDays = 400

function readDays(given: number): number {
  if (Number.isInteger(given) && given >= 1 && given <= mostDays) return given
  throw new DomainError('BAD_USER_INPUT', `retentionDays is a whole number from 1 to ${mostDays}.`, { field: 'retentionDays' })
}

/** Changes how the active organization uses the gateway; a shorter retention applies to stored prompts at once. */
async function update(context: Context, input: UpdateProviderOrganizationInput): Promise<ProviderOrganizationRow> {
  const organizationId = activeOrganization(context.viewer, 'Settings of the gateway')
  const { id } = await provision(context, organizationId)
  const { providerOrganizations, organizationsInUse } = context
  const wanted = {
    ...(input.promptStorage != null && { promptStorage: input.promptStorage }),
    ...(input.retentionDays != null && { retentionDays: readDays(input.retentionDays) }),
  }
  return change(context, {
    of: providerOrganizations,
    id,
    expectedVersion: input.expectedVersion,
    decide: () => wanted,
    wake: ({ before, after }, { transaction }) => {
      if (after.promptStorage === 'OFF' && before.promptStorage !== 'OFF') return providerOrganizations.keepPrompts(organizationId, null, transaction)
      return after.retentionDays < before.retentionDays ? providerOrganizations.keepPrompts(organizationId, after.retentionDays, transaction) : undefined
    },
    audit: ({ after }) => ({
      tenantId: organizationId,
      action: 'organization.updated',
      subjectId: id,
      details: { promptStorage: after.promptStorage, retentionDays: after.retentionDays },
    }),
    announce: () => organizationsInUse.forget(organizationId),
  })
}

export const organizationResolvers: Resolvers = {
  Query: {
    providerOrganization: (_, __, context) => provision(context, activeOrganization(context.viewer, 'Settings of the gateway')),
  },
  Mutation: {
    provisionOrganization(_, { input }, context) {
      const organizationId = requireId(input.organizationId, 'organizationId')
      if (organizationId !== context.viewer.organizationId && !provisionsAny(context.viewer)) throw notFound('organization', organizationId)
      return provision(context, organizationId)
    },
    updateProviderOrganization: (_, { input }, context) => update(context, input),
  },
  ProviderOrganization: {
    organization: ({ organizationId }) => ({ id: organizationId }),
  },
}
