import type { Resolvers } from '../../resolvers.generated.ts'
import { previewUrlOf } from '../asset/shown.ts'
import { generateImages } from './generate.ts'

export const imageResolvers: Resolvers = {
  Query: {
    generatedImages: async (_, { brandId, ...page }, { brands, generatedImages }) =>
      generatedImages.page('ofBrand', (await brands.require(brandId, 'brandId')).id, page),
  },
  Mutation: {
    generateImages: async (_, { input }, context) => ({ images: await generateImages(context, input) }),
  },
  GeneratedImage: {
    __resolveReference: ({ id }, { generatedImages }) => generatedImages.byId.load(id),
    asset: ({ assetId }, _, { mediaAssets }) => mediaAssets.find(assetId),
    async previewUrl({ assetId }, _, context) {
      const asset = await context.mediaAssets.find(assetId)
      return asset && previewUrlOf(context, asset)
    },
    previewBroken: async ({ assetId }, _, { mediaAssets }) => (await mediaAssets.find(assetId))?.previewBroken ?? true,
    author: ({ authorId }) => (authorId ? { __typename: 'User', id: authorId } : null),
  },
}
