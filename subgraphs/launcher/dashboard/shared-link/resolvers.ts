import { requireId } from '../../../../platform/ids.ts'
import type { AuditLine } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { changesNothing, checkVersion, create, remove, write } from '../../../store/write.ts'
import { actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreateSharedLinkInput, DeleteSharedLinkInput, Resolvers, UpdateSharedLinkInput } from '../../resolvers.generated.ts'
import type { SharedLinkRow } from '../../stores/dashboard/shared-link.ts'
import { requireOrganization } from '../place.ts'
import { moved, readChanges, requireRoom } from './rules.ts'

const organizationOf = ({ viewer }: Context): string => requireOrganization(viewer, 'Shared links')

const line = (action: `shared_link.${string}`, { organizationId, id }: SharedLinkRow): AuditLine => ({ tenantId: organizationId, action, subjectId: id })

async function createLink(context: Context, input: CreateSharedLinkInput): Promise<SharedLinkRow> {
  const { viewer, sharedLinks, isDevelopment } = context
  const organizationId = organizationOf(context)
  const { title, url, icon = null } = readChanges({ icon: null, ...input }, isDevelopment)
  const { row } = await create(context, {
    of: sharedLinks,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const present = await sharedLinks.lockOf(organizationId, transaction)
      requireRoom(present.length)
      const position = 1 + Math.max(-1, ...present.map(each => each.position))
      return { id, organizationId, title: title!, url: url!, icon, position, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: row => line('shared_link.created', row),
  })
  return row
}

/** Changes a link under the lock of its organization's links, because a new place moves others. */
async function updateLink(context: Context, { id: given, order, expectedVersion, ...input }: UpdateSharedLinkInput): Promise<SharedLinkRow> {
  const { sharedLinks, isDevelopment } = context
  const [organizationId, id] = [organizationOf(context), requireId(given, 'id')]
  const changes = readChanges(input, isDevelopment)
  const { row } = await write(context, {
    async run({ transaction, now }) {
      const present = await sharedLinks.lockOf(organizationId, transaction)
      const before = present.find(row => row.id === id)
      if (!before) throw notFound(sharedLinks.what, id)
      checkVersion(before.version, expectedVersion, sharedLinks.what)
      const ids = present.map(row => row.id)
      const after = order === null || order === undefined ? ids : moved(ids, id, order)
      const row = { ...before, position: after.indexOf(id) }
      if (row.position === before.position && changesNothing(before, changes)) return { row, isNews: false }
      await sharedLinks.arrange(after, transaction)
      return { row: await sharedLinks.update(row, { ...changes, updatedAt: now, version: row.version + 1 }, transaction), isNews: true }
    },
    audit: ({ row, isNews }) => (isNews ? line('shared_link.updated', row) : null),
  })
  return row
}

async function deleteLink(context: Context, { id, expectedVersion }: DeleteSharedLinkInput): Promise<SharedLinkRow> {
  const { sharedLinks } = context
  const organizationId = organizationOf(context)
  let present: readonly SharedLinkRow[] = []
  return remove(context, {
    of: sharedLinks,
    id,
    expectedVersion,
    async before({ transaction }) {
      present = await sharedLinks.lockOf(organizationId, transaction)
    },
    // Those behind it move up.
    decide: (row, { transaction }) =>
      sharedLinks.arrange(
        present.map(each => each.id).filter(other => other !== row.id),
        transaction,
      ),
    audit: row => line('shared_link.deleted', row),
  })
}

export const sharedLinkResolvers: Resolvers = {
  Query: {
    sharedLinks: (_, __, context) => context.sharedLinks.of(organizationOf(context)),
  },
  Mutation: {
    createSharedLink: (_, { input }, context) => createLink(context, input),
    updateSharedLink: (_, { input }, context) => updateLink(context, input),
    deleteSharedLink: (_, { input }, context) => deleteLink(context, input),
  },
  SharedLink: {
    __resolveReference: ({ id }, { sharedLinks }) => sharedLinks.byId.load(id),
    order: ({ position }) => position,
    createdBy({ createdBy }) {
      const id = personOf(createdBy)
      return id === null ? null : { __typename: 'User', id }
    },
  },
}
