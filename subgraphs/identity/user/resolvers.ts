import type { Transaction } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import { readId, requireId } from '../../../platform/ids.ts'
import { isMailAddress, mailAddressSentence } from '../../../platform/smtp/mail-address.ts'
import { write } from '../../store/write.ts'
import { activeOrganization, requireApp, requirePerson, type Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { readName } from '../organization/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { announceViewer } from '../session/announce.ts'
import { profileOf } from '../session/me.ts'
import { endSessions } from '../session/opening.ts'
import { type UserRow, userKindToGraph } from '../stores/user.ts'
import { isUpdated, readImage, readReason, requireOwnOrManaged, requireSuspendable } from './rules.ts'

export const userResolvers: Resolvers = {
  Query: {
    user: (_, { id }, { users }) => users.require(id),
    async contactOf(_, { userId }, { viewer, everyUser }) {
      requireApp(viewer, 'app_launcher', 'how to reach a person')
      const user = await everyUser.find(requireId(userId, 'userId'))
      return user?.emailVerified && user.suspendedAt === null ? user.email : null
    },
    async personWithContact(_, { email }, { viewer, everyUser }) {
      requireApp(viewer, 'app_launcher', 'whose a mail address is')
      if (!isMailAddress(email)) throw new DomainError('BAD_USER_INPUT', `email takes an address ${mailAddressSentence}.`, { field: 'email' })
      return everyUser.verifiedWith(email)
    },
    accountOf(_, { userId, sessionId }, { viewer }) {
      requireApp(viewer, 'app_launcher', 'about the account of a person')
      const id = requireId(userId, 'userId')
      if (id !== viewer.onBehalfOf) throw new DomainError('FORBIDDEN', 'An account is shown to its own person: ask on their behalf.', { field: 'userId' })
      return { userId: id, sessionId: readId(sessionId, 'sessionId') }
    },
  },

  AccountRecord: {
    isRecoverable: ({ userId }, _, { recoveryEmails }) => recoveryEmails.isRecoverable(userId),
    profile: ({ userId, sessionId }, _, context) => profileOf(context, userId, sessionId),
  },

  User: {
    __resolveReference: ({ id }, { users }) => users.byId.load(id),
    kind: ({ kind }) => userKindToGraph[kind],
    emailVerified: (user, _, { viewer }) => ofTheirOwn(user, viewer, user.emailVerified),
    lastSignedInAt: (user, _, { viewer }) => ofTheirOwn(user, viewer, user.lastSignedInAt),
    suspendedAt: (user, _, { viewer }) => ofTheirOwn(user, viewer, user.suspendedAt),
  },

  Mutation: {
    async updateUser(_, { input }, context) {
      const id = requirePerson(context.viewer)
      const changes = {
        ...(input.name !== null && input.name !== undefined && { name: readName(input.name) }),
        ...(input.image !== undefined && { image: readImage(input.image) }),
      }
      const { user } = await write(context, {
        async run({ transaction, now }) {
          const user = await locked(context, id, transaction)
          if (Object.entries(changes).every(([name, value]) => user[name as keyof UserRow] === value)) return { user, isNews: false }
          return { user: await context.everyUser.update(user, { ...changes, updatedAt: now }, transaction), isNews: true }
        },
        facts: ({ user, isNews }) => (isNews ? [isUpdated(user)] : []),
      })
      return user
    },

    async suspendUser(_, { input }, context) {
      const { users, everyUser, codes } = context
      const [id, reason] = [requireId(input.id, 'id'), readReason(input.reason)]
      const platform = activeOrganization(context.viewer, 'Suspensions')
      const { user } = await write(context, {
        async run(unit) {
          const { transaction, now } = unit
          const user = await locked(context, id, transaction)
          requireSuspendable(user, await users.isSuperAdmin(id, transaction))
          if (user.suspendedAt) return { user, isNews: false }
          await endSessions(context, { userId: id }, unit)
          await codes.end(id, ['handoff', 'reset-password'], transaction)
          return { user: await everyUser.update(user, { suspendedAt: now, updatedAt: now }, transaction), isNews: true }
        },
        audit: ({ isNews }) => (isNews ? { tenantId: platform, action: 'account.suspended', subjectId: id, personId: id, details: { reason } } : null),
        facts: ({ user, isNews }) => (isNews ? [{ kind: 'user.suspended', body: { userId: id } }, isUpdated(user)] : []),
        announce: ({ isNews }) => (isNews ? announceViewer(context.events, id) : undefined),
      })
      return user
    },

    async reinstateUser(_, { input }, context) {
      const { everyUser } = context
      const id = requireId(input.id, 'id')
      const platform = activeOrganization(context.viewer, 'Suspensions')
      const { user } = await write(context, {
        async run(unit) {
          const { transaction, now } = unit
          const user = await locked(context, id, transaction)
          if (!user.suspendedAt) return { user, isNews: false }
          // A session that began while the account was being suspended stays ended.
          await endSessions(context, { userId: id }, unit)
          return { user: await everyUser.update(user, { suspendedAt: null, updatedAt: now }, transaction), isNews: true }
        },
        audit: ({ isNews }) => (isNews ? { tenantId: platform, action: 'account.reinstated', subjectId: id, personId: id } : null),
        facts: ({ user, isNews }) => (isNews ? [isUpdated(user)] : []),
      })
      return user
    },
  },
}

/** Locks and returns an account until the transaction ends. */
async function locked({ everyUser }: Context, id: string, transaction: Transaction): Promise<UserRow> {
  const user = await everyUser.lock(id, transaction)
  if (user) return user
  throw new DomainError('NOT_FOUND', `There is no account ${id}.`, { field: 'id' })
}

/** Returns a value that only the person and managers of the organization may read. */
function ofTheirOwn<Value>(user: UserRow, viewer: Viewer, value: Value): Value {
  requireOwnOrManaged(viewer, user)
  return value
}
