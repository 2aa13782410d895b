import { DomainError } from '../../../../platform/errors.ts'
import { readId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { change, create, remove } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { mostFolders, readFolderName, requirePlace } from './rules.ts'

export const mediaFolderResolvers: Resolvers = {
  Query: {
    mediaFolders: async (_, { brandId }, { brands, mediaFolders }) => mediaFolders.manyBy('brandId').load((await brands.require(brandId, 'brandId')).id),
  },
  Mutation: {
    async createMediaFolder(_, { input }, context) {
      const { brands, mediaFolders, viewer } = context
      const brand = await brands.require(input.brandId, 'brandId')
      const [name, parentId] = [readFolderName(input.name), readId(input.parentId, 'parentId')]
      const { row } = await create(context, {
        of: mediaFolders,
        once: input,
        tenantId: brand.organizationId,
        async run({ now, transaction }, id) {
          await brands.requireInUse(brand.id, transaction)
          const tree = await mediaFolders.tree(brand.id, transaction)
          requireQuota(
            { inAll: tree.length, today: 0, todaySince: null },
            { inAll: mostFolders, aDay: Number.POSITIVE_INFINITY },
            'folders of this brand',
            'remove one that is empty',
            now,
          )
          requirePlace(tree, null, parentId)
          return { brandId: brand.id, id, name, parentId, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
        },
        audit: ({ id, brandId }) => ({ tenantId: brandId, action: 'media_folder.created', subjectId: id }),
      })
      return row
    },

    async updateMediaFolder(_, { input: { id, name, parentId, expectedVersion } }, context) {
      const { brands, mediaFolders } = context
      const { brandId } = await mediaFolders.require(id)
      return change(context, {
        of: mediaFolders,
        id,
        expectedVersion,
        before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
        async decide(folder, { transaction }) {
          const to = parentId === undefined ? folder.parentId : readId(parentId, 'parentId')
          if (to !== folder.parentId) requirePlace(await mediaFolders.tree(brandId, transaction), folder.id, to)
          return { name: name === undefined ? folder.name : readFolderName(name), parentId: to }
        },
        audit: ({ after }) => ({ tenantId: brandId, action: 'media_folder.changed', subjectId: after.id, details: { version: after.version } }),
      })
    },

    async deleteMediaFolder(_, { input: { id, expectedVersion } }, context) {
      const { brands, mediaFolders } = context
      const { brandId } = await mediaFolders.require(id)
      return remove(context, {
        of: mediaFolders,
        id,
        expectedVersion,
        before: async ({ transaction }) => {
          await brands.requireInUse(brandId, transaction)
          await mediaFolders.tree(brandId, transaction)
        },
        async decide(folder, { transaction }) {
          if (await mediaFolders.isUsed(folder, transaction))
            throw new DomainError('CONFLICT', 'Something lies in the folder: move or delete that first.', { reason: 'NOT_EMPTY' })
        },
        audit: folder => ({ tenantId: brandId, action: 'media_folder.deleted', subjectId: folder.id }),
      })
    },
  },
  MediaFolder: {
    __resolveReference: ({ id }, { mediaFolders }) => mediaFolders.byId.load(id),
    assetCount: ({ id }, _, { mediaFolders }) => mediaFolders.countOf.load(id),
  },
}
