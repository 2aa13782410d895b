import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint, formCsrfMiddleware } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import { toStored } from '../../../platform/smtp/mail-address.ts'

/** Whether the library's sign-in accepts an address: its rule covers neither non-ASCII letters nor all of RFC 5321. */
export const isOfLibrary = (email: string): boolean => z.email().safeParse(email).success

/** Path of the library's sign-in for other addresses. */
export const byAddressPath = '/sign-in/address'

/**
 * Signs in as the library's `/sign-in/email` does, step by step, for addresses that it rejects. Remove it once the
 * library accepts them.
 */
export const signInByAddress = {
  id: 'by-address',
  endpoints: {
    signInByAddress: createAuthEndpoint(
      byAddressPath,
      {
        method: 'POST',
        use: [formCsrfMiddleware],
        body: z.object({ email: z.string(), password: z.string() }),
        metadata: { allowedMediaTypes: ['application/x-www-form-urlencoded', 'application/json'] },
      },
      async ctx => {
        const { email, password } = ctx.body
        const { internalAdapter, password: passwords } = ctx.context
        const found = await internalAdapter.findUserByEmail(toStored(email), { includeAccounts: true })
        const hash = found?.accounts.find(({ providerId, accountId }) => providerId === 'credential' && accountId === found.user.id)?.password
        if (!found || !hash) {
          // Takes as long as for an existing account.
          await passwords.hash(password)
          throw new APIError('UNAUTHORIZED')
        }
        if (!(await passwords.verify({ hash, password }))) throw new APIError('UNAUTHORIZED')
        const session = await internalAdapter.createSession(found.user.id, false)
        await setSessionCookie(ctx, { session, user: found.user })
        return ctx.json({ token: session.token, user: found.user })
      },
    ),
  },
} satisfies BetterAuthPlugin
