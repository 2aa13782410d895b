import { newId } from '../../../platform/ids.ts'
import type { Receives } from '../../store/facts.ts'
import type { Job } from '../context.ts'
import { recordMailOutcome } from '../engines/invoicing/mail/send.ts'

/** What a merchant counts in that nobody has said anything of. */
const defaultCurrency = 'EUR'

/** What identity calls the organization that looks after the platform. */
const slugOfPlatform = 'admin'

/** What payments does with the facts of others. */
export const received: Receives<'payments', Job> = {
  // What became of a mail of an invoice.
  'email.outcome': ({ body: { messageId, status } }, job, unit) => recordMailOutcome(job, messageId, status, unit),
  // An organization begins with settings and a merchant of its name, unless its first order was quicker.
  async 'organization.created'({ body: { organizationId, name, slug } }, { merchants, settings, webhookEvents }, { transaction, now }) {
    if (slug === slugOfPlatform) await webhookEvents.learnPlatform(organizationId, transaction)
    await settings.ensure(organizationId, now, 'platform', transaction)
    await merchants.ensureDefault({ id: newId(now), organizationId, name, defaultCurrency, createdAt: now, createdBy: 'platform' }, transaction)
  },
  // What somebody asked for who left stays, and waits for others.
  'membership.removed': async () => {},
  // It works alike whether or not it is installed, and whatever is paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
