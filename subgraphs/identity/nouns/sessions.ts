import type { Noun } from '../../wiring/define.ts'
import { credentialsPath } from '../credentials/names.ts'
import { publicHandler } from '../http/public.ts'
import { renewal, signOut } from '../session/handlers.ts'
import { adminHandler, mintHandler, ssoHandler } from '../session/handoff/handler.ts'
import { handoffResolvers } from '../session/handoff/resolvers.ts'
import { appsHandler, meHandler } from '../session/me.ts'
import { sessionResolvers } from '../session/resolvers.ts'
import type { At } from './services.ts'

/** Handlers that end the caller's session. */
export const leaving = ({ foundation: { publicUrl }, settings: { trustsOrigin }, services: { credentials }, contexts }: At) =>
  publicHandler({ publicUrl, trustsOrigin }, signOut({ ...credentials, open: contexts.forRequest }))

/** Sessions, and handoffs to services. */
export const sessionNouns: Readonly<Record<string, Noun<At>>> = {
  session: {
    resolvers: sessionResolvers,
    handlers: at => {
      const { credentials } = at.services
      const open = at.contexts.forRequest
      return {
        [`GET ${credentialsPath}/token`]: renewal({ ...credentials, open }),
        [`GET ${credentialsPath}/me`]: meHandler(open),
        [`GET ${credentialsPath}/apps`]: appsHandler(open),
        [`POST ${credentialsPath}/sign-out`]: leaving(at),
      }
    },
  },
  'session/handoff': {
    resolvers: handoffResolvers,
    handlers: ({ foundation: { publicUrl }, settings: { trustsOrigin }, services: { credentials }, contexts: { forRequest } }) => ({
      [`POST ${credentialsPath}/handoff`]: mintHandler(forRequest),
      [`POST ${credentialsPath}/sso/exchange`]: publicHandler(
        { publicUrl, trustsOrigin },
        ssoHandler({ contextOf: forRequest, authority: credentials.authority }),
      ),
      'POST /launcher/api/admin/session': adminHandler({ contextOf: forRequest, isOurs: origin => origin === publicUrl || trustsOrigin(origin) }),
    }),
  },
}
