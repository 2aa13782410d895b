import type { Receives } from '../../store/facts.ts'
import type { Job } from '../context.ts'

/** Handlers of the facts that publishing receives from other services. */
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
  // Publishing works the same whether or not it is installed or paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
