import type { Noun } from '../../wiring/define.ts'
import { credentialsPath } from '../credentials/names.ts'
import { publicExchange } from '../http/public.ts'
import { renewal, signOut } from '../session/exchanges.ts'
import { adminExchange, mintExchange, ssoExchange } from '../session/handoff/exchange.ts'
import { handoffResolvers } from '../session/handoff/resolvers.ts'
import { appsExchange, meExchange } from '../session/me.ts'
import { sessionResolvers } from '../session/resolvers.ts'
import type { At } from './services.ts'

/** Handlers that end the caller's session. */
export const leaving = ({ foundation: { publicUrl }, settings: { trustsOrigin }, services: { credentials }, contexts }: At) =>
  publicExchange({ publicUrl, trustsOrigin }, signOut({ ...credentials, open: contexts.forRequest }))

/** Sessions, and handoffs to services. */
export const sessionNouns: Readonly<Record<string, Noun<At>>> = {
  session: {
    resolvers: sessionResolvers,
    exchanges: at => {
      const { credentials } = at.services
      const open = at.contexts.forRequest
      return {
        [`GET ${credentialsPath}/token`]: renewal({ ...credentials, open }),
        [`GET ${credentialsPath}/me`]: meExchange(open),
        [`GET ${credentialsPath}/apps`]: appsExchange(open),
        [`POST ${credentialsPath}/sign-out`]: leaving(at),
      }
    },
  },
  'session/handoff': {
    resolvers: handoffResolvers,
    exchanges: ({ foundation: { publicUrl }, settings: { trustsOrigin }, services: { credentials }, contexts: { forRequest } }) => ({
      [`POST ${credentialsPath}/handoff`]: mintExchange(forRequest),
      [`POST ${credentialsPath}/sso/exchange`]: publicExchange(
        { publicUrl, trustsOrigin },
        ssoExchange({ contextOf: forRequest, authority: credentials.authority }),
      ),
      'POST /launcher/api/admin/session': adminExchange({ contextOf: forRequest, isOurs: origin => origin === publicUrl || trustsOrigin(origin) }),
    }),
  },
}
