import type { Handler } from '../../http/handlers.ts'
import { requirePerson, type Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { addressesOf } from '../service-entry/rules.ts'
import { shownOf } from '../stores/account/recovery-email.ts'
import type { Place } from '../stores/membership.ts'
import type { UserRow } from '../stores/user.ts'

type Open = (viewer: Viewer, request: Request) => Context

/** What is shown of a person on their own pages, whatever the context. */
export interface Profile {
  readonly user: Pick<UserRow, 'id' | 'name' | 'email' | 'emailVerified' | 'image' | 'kind'>
  readonly session: { readonly id: string; readonly kind: string; readonly expiresAt: Date } | null
  readonly organizations: readonly Place[]
  readonly recoveryEmail: object
}

/** Reads a person's profile. @param sessionId the session that is described; null: none is. @throws NOT_FOUND for no account */
export async function profileOf(context: Context, userId: string, sessionId: string | null): Promise<Profile> {
  const { everyUser, sessions, memberships, recoveryEmails, clock } = context
  const [user, session, organizations, recovery] = await Promise.all([
    everyUser.require(userId),
    sessionId === null ? null : sessions.one(sessionId, userId, clock.now()),
    memberships.placesOf(userId),
    recoveryEmails.ofPerson(userId),
  ])
  const { id, name, email, emailVerified, image, kind } = user
  return {
    user: { id, name, email, emailVerified, image, kind },
    session: session && { id: session.id, kind: session.kind, expiresAt: session.expiresAt },
    organizations,
    recoveryEmail: shownOf(recovery),
  }
}

/** Handles `GET …/me`: the signed-in person, the context, and other possible ones. */
export const meHandler =
  (open: Open): Handler =>
  async (request, viewer) => {
    const { user, session, organizations, recoveryEmail } = await profileOf(open(viewer, request), requirePerson(viewer), viewer.sessionId)
    const active = organizations.find(place => place.id === viewer.organizationId)
    return Response.json({
      ...{ user, session, context: viewer.context },
      organization: active ? { id: active.id, slug: active.slug, name: active.name } : null,
      ...{ roles: viewer.roles, scopes: viewer.scopes, organizations, recoveryEmail },
    })
  }

/** Handles `GET …/apps`: the services that people may open in the active context, by title, with their addresses. */
export const appsHandler =
  (open: Open): Handler =>
  async (request, viewer) => {
    const { serviceEntries, environment, production } = open(viewer, request)
    const entries = (await serviceEntries.manyBy('environment').load(environment)).filter(
      ({ kind, lifecycle, contexts }) => kind === 'application' && lifecycle !== 'retired' && contexts.includes(viewer.context),
    )
    const apps = await Promise.all(
      entries
        .toSorted((one, other) => one.title.localeCompare(other.title, 'en'))
        .map(async entry => {
          const { id, slug, title, icon, contexts, capabilities, kind } = entry
          const addresses = addressesOf(entry, await production(slug))
          const url = (addresses.find(({ role }) => role === 'dashboard') ?? addresses.find(({ role }) => role === 'web'))?.url ?? null
          return { id, slug, title, icon, url, contexts, capabilities, kind }
        }),
    )
    return Response.json({ context: viewer.context, apps })
  }
