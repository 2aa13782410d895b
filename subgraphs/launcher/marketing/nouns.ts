import { agingOfRates } from '../../../platform/sql/rates.ts'
import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { ratesTable } from '../engines/visitors/visitors.ts'
import { consentHandlers } from './consent/handlers.ts'
import { consentResolvers } from './consent/resolvers.ts'
import { demoHandlers } from './demo/handlers.ts'
import { demoResolvers } from './demo/resolvers.ts'
import { leadHandlers } from './lead/handlers.ts'
import { leadResolvers } from './lead/resolvers.ts'

/** Days for which leads and decisions about cookies are kept, and mails: within them a key is not sent again. */
const [leadDays, consentDays, mailDays] = [730, 730, 40]

/** The marketing site's forms, and the mails of the launcher. */
export const marketingNouns: Readonly<Record<string, Noun<At>>> = {
  lead: {
    resolvers: leadResolvers,
    handlers: leadHandlers,
    retention: () => [{ table: 'launcher.leads', days: leadDays, old: 'o.created_at < $1', order: 'o.created_at' }, agingOfRates(ratesTable)],
  },
  demo: { resolvers: demoResolvers, handlers: demoHandlers },
  consent: {
    resolvers: consentResolvers,
    handlers: consentHandlers,
    sweeps: ({ services: { consentSync } }) => [consentSync.sweep],
    retention: () => [
      { table: 'launcher.consent_decisions', days: consentDays, old: 'o.created_at < $1', order: 'o.created_at' },
      { table: 'launcher.consent_subjects', days: consentDays, old: 'o.decided_at < $1', order: 'o.decided_at' },
    ],
  },
  mail: {
    sweeps: ({ services: { mail } }) => [mail.sweep],
    retention: () => [{ table: 'launcher.mails', days: mailDays, old: 'o.created_at < $1', order: 'o.created_at' }],
  },
}
