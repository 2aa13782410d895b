import type { Receives } from '../../store/facts.ts'
import type { Job } from '../context.ts'

/** What publishing does with the facts of others. */
export const received: Receives<'publishing', Job> = {
  // It sends no mail yet.
  'email.outcome': async () => {},
  // A new organization has no brand.
  'organization.created': async () => {},
  // Posts and connections belong to the organization and stay; a connection shows that its author has left.
  'membership.removed': ({ body: { organizationId, userId } }, { connections }, { transaction }) => connections.orphan(organizationId, userId, transaction),
  // Publishing does not refer to person profiles yet.
  'profile.erased': async () => {},
  'profile.withdrawn': async () => {},
  // It works alike whether or not it is installed, and whatever is paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
