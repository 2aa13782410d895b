import type { Noun } from '../../wiring/define.ts'
import { credentialsPath } from '../credentials/names.ts'
import { createLoginPage } from '../credentials/pages/login.ts'
import { loginPath } from '../credentials/pages/paths.ts'
import { readerOf } from '../credentials/pages/reader.ts'
import { mintHandoff } from '../session/handoff/mint.ts'
import { bearerOf } from '../session/handoff/rules.ts'
import type { At } from './services.ts'
import { leaving } from './sessions.ts'

/** The page on which people sign in. */
export const loginPage: Noun<At> = {
  handlers(at) {
    const login = loginPageOf(at)
    return { [`GET ${loginPath}`]: login, [`POST ${loginPath}`]: login }
  },
}

function loginPageOf(at: At) {
  const { foundation, settings, services, contexts } = at
  const { environment, publicUrl } = foundation
  const { authority, handlers } = services.credentials
  const job = () => at.job('platform')
  return createLoginPage({
    publicUrl,
    forms: services.forms,
    signUp: settings.signUp,
    signIn: handlers[`POST ${credentialsPath}/sign-in/email`]!,
    signOut: leaving(at),
    async here(headers) {
      const viewer = readerOf(await authority.cookie(headers))
      const account = viewer && (await job().accounts.byId(viewer.userId!))
      return account ? { viewer, email: account.email } : null
    },
    handoffs: {
      callbackOf: async slug =>
        (await job().serviceEntries.manyBy('environment').load(environment)).find(each => each.slug === slug)?.addresses.callback ?? null,
      make: (viewer, request, wanted) => mintHandoff(contexts.forRequest(viewer, request), bearerOf(viewer), wanted),
    },
  })
}
