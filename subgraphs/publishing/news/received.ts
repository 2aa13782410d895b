import type { Receives } from '../../store/facts.ts'
import type { Job } from '../context.ts'

/** What publishing does with the facts of others. */
export const received: Receives<'publishing', Job> = {
  // It sends no mail yet.
  'email.outcome': async () => {},
  // An organization begins without a brand.
  'organization.created': async () => {},
  // Posts and connections are the organization's, and go on; who looks at a connection sees that its author has left.
  'membership.removed': ({ body: { organizationId, userId } }, { connections }, { transaction }) => connections.orphan(organizationId, userId, transaction),
  // Nothing here points to a person profile yet.
  'profile.erased': async () => {},
  'profile.withdrawn': async () => {},
  // It works alike whether or not it is installed, and whatever is paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
