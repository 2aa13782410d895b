import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, change, constant, row } from '../../../../access/row.ts'

const admin: readonly Scope[] = ['providers:org.admin']
const provision: readonly Scope[] = ['providers:organizations.provision']
const manage: readonly Scope[] = ['providers:provider_credentials.manage']
const usage: readonly Scope[] = ['providers:usage.read']
const eachTheirOwn = 'refused yes refused refused refused yes yes'

export const access: AccessRows = {
  fields: [
    row('Query.providerOrganization', admin, usage, eachTheirOwn, constant('{ providerOrganization { id } }'), 'providerOrganization'),
    row(
      'Mutation.provisionOrganization',
      provision,
      usage,
      accountants,
      change('provisionOrganization', ids => `organizationId: "${ids.organization}"`, 'id'),
      'provisionOrganization',
    ),
    row(
      'Mutation.updateProviderOrganization',
      admin,
      usage,
      eachTheirOwn,
      change('updateProviderOrganization', () => 'retentionDays: 30', 'id'),
      'updateProviderOrganization',
    ),
    row('Query.providerAuditLog', manage, usage, eachTheirOwn, constant('{ providerAuditLog { pageInfo { hasNextPage } } }'), 'providerAuditLog'),
  ],
  routes: [
    {
      at: 'POST /providers/api/organizations',
      scopes: provision,
      less: usage,
      cells: accountants,
      path: () => '/providers/api/organizations',
      body: ids => ({ organizationId: ids.organization }),
    },
  ],
}
