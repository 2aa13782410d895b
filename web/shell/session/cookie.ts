import { endSession, type Session, SignedOut } from './session.ts'

/** The session of a host whose cookie alone says who is signed in: no script ever sees a token. */
export const createCookieSession = (): Session => ({
  token: async () => null,
  renew: async () => {
    throw new SignedOut('the cookie does not count any more')
  },
  signOut: () => endSession({}),
})
