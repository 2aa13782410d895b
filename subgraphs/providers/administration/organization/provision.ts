import { newId } from '../../../../platform/ids.ts'
import { writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { Context, Job } from '../../context.ts'
import type { ProviderOrganizationRow } from '../../stores/administration/organization.ts'

/** Returns the record of an organization, creating it once, also under concurrent calls. */
export async function provision(context: Context | Job, organizationId: string): Promise<ProviderOrganizationRow> {
  const { providerOrganizations } = context
  const [known] = await providerOrganizations.of(organizationId)
  if (known) return known
  const { actor } = context[writing]
  await write(context, {
    async run({ transaction, now }) {
      const id = newId(now)
      return (await providerOrganizations.ensure(id, organizationId, now, actor, transaction)) ? { id } : null
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'organization.provisioned', subjectId: id }),
  })
  const [made] = await providerOrganizations.of(organizationId)
  return made!
}
