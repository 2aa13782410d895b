import type { Exchange } from '../../http/exchanges.ts'
import { requirePerson, type Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { addressesOf } from '../service-entry/rules.ts'

type Open = (viewer: Viewer, request: Request) => Context

/**
 * Handles `GET …/me`: the signed-in person, the context, and other possible ones.
 * @param recoveryOf returns a person's recovery address
 */
export const meExchange =
  (open: Open, recoveryOf: (context: Context, userId: string) => Promise<object>): Exchange =>
  async (request, viewer) => {
    const userId = requirePerson(viewer)
    const context = open(viewer, request)
    const { users, sessions, memberships, clock } = context
    const [user, session, places, recoveryEmail] = await Promise.all([
      users.require(userId),
      viewer.sessionId === null ? null : sessions.one(viewer.sessionId, userId, clock.now()),
      memberships.placesOf(userId),
      recoveryOf(context, userId),
    ])
    const { id, name, email, emailVerified, image, kind } = user
    const active = places.find(place => place.id === viewer.organizationId)
    return Response.json({
      user: { id, name, email, emailVerified, image, kind },
      session: session && { id: session.id, kind: session.kind, expiresAt: session.expiresAt },
      context: viewer.context,
      organization: active ? { id: active.id, slug: active.slug, name: active.name } : null,
      roles: viewer.roles,
      scopes: viewer.scopes,
      organizations: places,
      recoveryEmail,
    })
  }

/** Handles `GET …/apps`: the services that people may open in the active context, by title, with their addresses. */
export const appsExchange =
  (open: Open): Exchange =>
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
