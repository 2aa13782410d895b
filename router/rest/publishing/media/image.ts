import { nounRoutes } from '../../derive/route.ts'

const generateImages = { run: 'generateImages', select: 'images', status: 201, location: '/publishing/api/images?brandId={images.0.brandId}' } as const

export const imageRows = nounRoutes({
  select: {
    GeneratedImage: `
      id brandId postId prompt model requestedModel assetId: asset { id } previewUrl previewBroken createdAt authorId: author { id }`,
  },
  routes: {
    'GET /api/images': 'generatedImages',
    'POST /api/images': generateImages,
    'POST /api/internal/images': { ...generateImages, name: 'generateImagesAsService', policy: 'service' },
  },
})
