import { listBody } from '../../derive/list.ts'
import { toEnum, toInteger } from '../../enum-case.ts'
import { operationRow, type Row, type RowInput, type RowReply } from '../../row.ts'
import {
  type GenerateImagesInput,
  RestGeneratedImagesDocument,
  type RestGeneratedImagesQueryVariables,
  RestGenerateImagesAsServiceDocument,
  RestGenerateImagesDocument,
  type RestGenerateImagesMutation,
} from './image.generated.ts'

type GraphImage = NonNullable<NonNullable<RestGenerateImagesMutation['generateImages']>['images']>[number]

const toRest = ({ asset, author, ...image }: GraphImage) => ({ ...image, assetId: asset?.id ?? null, authorId: author?.id ?? null })

/** What both doors to the one handler take and answer. */
const drawing = {
  method: 'POST',
  body: ['brandId', 'postId', 'prompt', 'size', 'count', 'model'],
  variables: ({ body, idempotencyKey }: RowInput) => ({
    input: { ...body, ...('size' in body && { size: toEnum(body.size) }), idempotencyKey } as GenerateImagesInput,
  }),
  reply: ({ generateImages }: RestGenerateImagesMutation): RowReply | null => {
    const images = generateImages?.images
    if (!images) return null
    return { status: 201, headers: { location: `/publishing/api/images?brandId=${images[0]?.brandId}` }, body: { images: images.map(toRest) } }
  },
} as const

export const imageRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/images',
    operation: RestGeneratedImagesDocument,
    query: ['brandId', 'first', 'after'],
    variables: ({ query }) => ({ ...query, first: toInteger(query.first) }) as RestGeneratedImagesQueryVariables,
    reply: ({ generatedImages }) => generatedImages && { body: listBody('images', generatedImages, toRest) },
  }),
  operationRow({ ...drawing, path: '/api/images', operation: RestGenerateImagesDocument }),
  operationRow({ ...drawing, path: '/api/internal/images', operation: RestGenerateImagesAsServiceDocument, policy: 'service' }),
]
