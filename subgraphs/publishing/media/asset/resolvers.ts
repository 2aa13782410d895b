import { DomainError } from '../../../../platform/errors.ts'
import { readId } from '../../../../platform/ids.ts'
import { readPage, toConnection } from '../../../../platform/page.ts'
import { change, remove } from '../../../store/write.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { newestFirst } from '../../stores/post.ts'
import { requireFolder } from '../folder/rules.ts'
import { bytesStayMs, keysOf } from '../keep.ts'
import { addressOf } from '../variant/address.ts'
import { importMedia } from './import.ts'
import { readAltText, readSearch, readTags, readTitle } from './rules.ts'
import { previewUrlOf, urlOf } from './shown.ts'

export const mediaAssetResolvers: Resolvers = {
  Query: {
    mediaAsset: (_, { id }, { mediaAssets }) => mediaAssets.require(id),
    async mediaAssets(_, { brandId, folderId, kind, tag, search, ...page }, { brands, mediaAssets }) {
      const brand = await brands.require(brandId, 'brandId')
      const filter = { brandId: brand.id, folderId: readId(folderId, 'folderId'), kind, tag: tag?.trim() || null, search: readSearch(search) }
      return mediaAssets.filtered(filter, page)
    },
  },

  Mutation: {
    async updateMediaAsset(_, { input: { id, expectedVersion, ...wanted } }, context) {
      const { brands, mediaAssets } = context
      const { brandId } = await mediaAssets.require(id)
      return change(context, {
        of: mediaAssets,
        id,
        expectedVersion,
        before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
        async decide(asset, unit) {
          const folderId = wanted.folderId === undefined ? asset.folderId : readId(wanted.folderId, 'folderId')
          if (folderId !== asset.folderId) await requireFolder(context, brandId, folderId, unit)
          return {
            folderId,
            altText: wanted.altText === undefined ? asset.altText : readAltText(wanted.altText),
            title: wanted.title === undefined ? asset.title : readTitle(wanted.title),
            tags: wanted.tags === undefined ? asset.tags : readTags(wanted.tags),
          }
        },
        audit: ({ after }) => ({ tenantId: brandId, action: 'media.changed', subjectId: after.id, details: { version: after.version } }),
      })
    },

    async deleteMediaAsset(_, { input: { id, expectedVersion } }, context) {
      const { brands, mediaAssets, mediaObjects } = context
      const { brandId } = await mediaAssets.require(id)
      return remove(context, {
        of: mediaAssets,
        id,
        expectedVersion,
        before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
        async decide(asset, { now, transaction }) {
          const users = await mediaAssets.usedBy(brandId, [asset.id], transaction)
          if (users.length > 0) {
            const said =
              users.length === 1
                ? 'A post that is not published uses it: take it out of that'
                : `${users.length} posts that are not published use it: take it out of them`
            throw new DomainError('CONFLICT', `${said} first.`, { reason: 'IN_USE', postIds: users.map(user => user.id) })
          }
          await mediaObjects.doom(brandId, keysOf(asset), new Date(now.getTime() + bytesStayMs), transaction)
        },
        audit: asset => ({ tenantId: brandId, action: 'media.deleted', subjectId: asset.id }),
      })
    },

    importMedia: (_, { input }, context) => importMedia(context, input),
  },

  MediaAsset: {
    __resolveReference: ({ id }, { mediaAssets }) => mediaAssets.byId.load(id),
    folder: ({ folderId }, _, { mediaFolders }) => mediaFolders.find(folderId),
    url: (asset, _, context) => urlOf(context, asset),
    previewUrl: (asset, _, context) => previewUrlOf(context, asset),
    variants: async ({ id }, _, context) =>
      (await context.mediaVariants.ofAsset.load(id)).map(variant => ({ ...variant, url: addressOf(context, id, everyNetwork[variant.platform].path) })),
    usage: ({ id }, _, { mediaAssets }) => mediaAssets.usageOf.load(id),
    async posts(asset, page, { mediaAssets }) {
      const request = readPage(page, newestFirst)
      return toConnection(await mediaAssets.postsWith(asset, request), request, newestFirst, () => mediaAssets.usageOf.load(asset.id))
    },
    author: ({ authorId }) => (authorId ? { __typename: 'User', id: authorId } : null),
  },

  Post: {
    media: ({ media }, _, { mediaAssets }) => media.map(async ({ assetId, altText }) => ({ altText, asset: await mediaAssets.byId.load(assetId) })),
  },
}
