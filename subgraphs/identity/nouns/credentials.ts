import type { Noun } from '../../wiring/define.ts'
import { acceptPath } from '../credentials/account/invited.ts'
import { accountHandlers } from '../credentials/account/open.ts'
import { requestQueue, requestSweep } from '../credentials/account/requests.ts'
import { accountResolvers } from '../credentials/account/resolvers.ts'
import { oauthHandlers } from '../credentials/oauth/handlers.ts'
import { oauthResolvers } from '../credentials/oauth/resolvers.ts'
import { accountPages } from '../credentials/pages/account.ts'
import { invitationPages } from '../credentials/pages/invitation.ts'
import { signingKeyResolvers } from '../credentials/signing-key/resolvers.ts'
import { loginPage } from './login-page.ts'
import type { At } from './services.ts'

/** The mails of identity. They are listed before credentials, because they end before the pool of credentials does. */
export const mail: Noun<At> = { queues: at => [at.services.mail.queue], sweeps: at => [at.services.mail.sweep], close: at => at.services.mail.close() }

/** Credentials of people and programs. */
export const credentialNouns: Readonly<Record<string, Noun<At>>> = {
  credentials: {
    handlers: ({ services: { credentials } }) => credentials.handlers,
    readiness: ({ services: { credentials } }) => [{ check: credentials.ready }],
    async start({ services: { credentials }, log }) {
      // Warms up, so that the first sign-in need not wait for it.
      credentials.load().catch(error => log.error({ err: error }, 'credential library did not load'))
    },
    close: ({ services: { credentials } }) => credentials.stop(),
  },
  'credentials/account': {
    resolvers: accountResolvers,
    queues: at => [requestQueue(() => at.job('platform'))],
    sweeps: at => [requestSweep(() => at.job('platform'), at.foundation.clock)],
    handlers: accountsAndPages,
  },
  'credentials/signing-key': { resolvers: signingKeyResolvers },
  'credentials/oauth': {
    resolvers: oauthResolvers,
    handlers: ({ foundation: { publicUrl, clock }, settings: { clientAddressHeader, trustsOrigin }, services, contexts, job }) => {
      const { credentials, forms } = services
      const { authority } = credentials
      return oauthHandlers({ publicUrl, clock, clientAddressHeader, authority, forms, trustsOrigin, open: contexts.forRequest, job: () => job('platform') })
    },
  },
  'credentials/pages': loginPage,
}

/** Handlers of the account routes, and the pages with forms for them. */
function accountsAndPages({ foundation: { publicUrl, clock }, settings: { trustsOrigin, signUp, clientAddressHeader }, services, contexts, jobs }: At) {
  const { credentials, forms } = services
  const { attempts, limits, authority } = credentials
  const accounts = accountHandlers({ publicUrl, trustsOrigin, clock, contexts, attempts, limits, signUp, clientAddressHeader, jobs })
  return {
    ...accounts,
    ...accountPages({ clock, contexts, signUp }, forms, accounts),
    ...invitationPages({ ground: { contexts, clock }, forms, authority, accept: accounts[`POST ${acceptPath}`]! }),
  }
}
