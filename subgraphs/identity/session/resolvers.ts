import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { write } from '../../store/write.ts'
import { isPerson, requirePerson } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import type { SessionRow } from '../stores/session.ts'
import { announceViewer } from './announce.ts'
import { endSessions } from './opening.ts'
import { claimsOf, currentFirst, expiryOf, kindToGraph, requireWhere } from './rules.ts'

export const sessionResolvers: Resolvers = {
  Query: {
    async sessions(_, _arguments, { viewer, sessions, clock }) {
      return currentFirst(await sessions.ofPerson(requirePerson(viewer), clock.now()), viewer.sessionId)
    },
  },
  Mutation: {
    switchOrganization: (_, { input }, context) => switchTo(requireId(input.organizationId, 'organizationId'), context),
    switchContext: (_, { input }, context) => switchTo(requireWhere(input), context),
    async revokeSession(_, { input }, context) {
      const userId = requirePerson(context.viewer)
      const id = requireId(input.id, 'id')
      return write(context, {
        async run(unit) {
          const session = await context.sessions.holdOne(id, userId, unit)
          if (session) {
            await end([session], userId, context, unit)
            return session
          }
          const before = await context.sessions.ended(id, userId, unit.transaction)
          if (!before) throw new DomainError('NOT_FOUND', 'You have no such session: `sessions` lists those that stand.', { field: 'id' })
          return before
        },
      })
    },
    async revokeSessions(_, { input }, context) {
      const userId = requirePerson(context.viewer)
      const except = (input.keepCurrent ?? true) ? context.viewer.sessionId : null
      return write(context, {
        async run(unit) {
          if (except) await context.sessions.standAlone(except, unit)
          const ended = await context.sessions.holdOthers(userId, except, unit)
          if (ended.length > 0) await end(ended, userId, context, unit)
          return currentFirst(ended, context.viewer.sessionId)
        },
      })
    },
  },
  Session: {
    kind: ({ kind }) => kindToGraph[kind],
    current: ({ id }, _arguments, { viewer }) => id === viewer.sessionId,
    context: ({ organizationId }) => (organizationId === null ? 'PERSONAL' : 'ORGANIZATION'),
    organization: ({ organizationId }, _arguments, { organizations }) => organizations.find(organizationId),
  },
  Viewer: {
    session: (_, _arguments, { viewer, sessions, clock }) =>
      isPerson(viewer) && viewer.sessionId !== null ? sessions.one(viewer.sessionId, viewer.userId, clock.now()) : null,
  },
}

type WriteTransaction = Parameters<typeof endSessions>[2]

async function end(ended: readonly SessionRow[], userId: string, context: Context, unit: WriteTransaction): Promise<void> {
  await context.sessions.keepEnded(ended, userId, unit)
  await endSessions(context, { sessionIds: ended.map(({ id }) => id) }, unit)
}

/**
 * Switches the viewer's session to another organization, or to none.
 * @param organizationId null for personal context, for this session only
 * @returns a token for the new context
 */
async function switchTo(organizationId: string | null, context: Context) {
  const { viewer, memberships, sessions, sign, events } = context
  const userId = requirePerson(viewer)
  const claims = await write(context, {
    async run({ transaction, now }) {
      const membership = organizationId === null ? null : await memberships.ofPerson(organizationId, userId, transaction)
      if (organizationId !== null && !membership)
        throw new DomainError('NOT_FOUND', 'You are not a member of such an organization.', { field: 'organizationId' })
      const session = viewer.sessionId && { sessionId: viewer.sessionId, userId }
      const grant = session && (await sessions.move(session, organizationId, now, transaction))
      if (!session || grant === undefined) throw new DomainError('UNAUTHENTICATED', 'The session has ended: sign in again.')
      if (membership) await memberships.update(membership, { lastUsedAt: now }, transaction)
      return claimsOf({ ...session, organizationId, roles: membership?.roles ?? [], grant: grant || null }, now)
    },
    audit: ({ sid }) => ({
      tenantId: organizationId ?? userId,
      personId: userId,
      action: 'context.switched',
      subjectId: sid,
      details: { context: organizationId === null ? 'personal' : 'organization' },
    }),
    announce: () => announceViewer(events, userId),
  })
  return { accessToken: await sign(claims), expiresAt: expiryOf(claims) }
}
