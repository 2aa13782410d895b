import { newId } from '../../../platform/ids.ts'
import type { Receives } from '../../store/facts.ts'
import type { Job } from '../context.ts'
import { forgetMember } from '../spend/leave.ts'
import { slugOfAdmins } from '../stores/credential/platform.ts'

/** The gateway's handlers for facts of other subgraphs. */
export const received: Receives<'providers', Job> = {
  // An organization begins without a credential of its own, and with a record of how it uses the gateway.
  'organization.created': async ({ body: { organizationId, slug, foundedBy } }, { providerOrganizations, platformOrganization }, unit) => {
    // Platform admins are notified about the platform's own credentials and limits.
    if (slug === slugOfAdmins) await platformOrganization.learn(organizationId, unit.transaction)
    const id = newId(unit.now)
    await providerOrganizations.ensure(id, organizationId, unit.now, 'facts', unit.transaction)
    if (foundedBy !== undefined) await providerOrganizations.found(organizationId, foundedBy, unit.transaction)
  },
  // Credentials stay with the organization when their creator leaves; limits of a person are deleted.
  'membership.removed': ({ body }, job, unit) => forgetMember(job, body, unit),
  // The gateway works the same whether or not it is installed or paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
