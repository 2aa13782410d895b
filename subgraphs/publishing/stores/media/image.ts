import { type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { store } from '../../../store/store.ts'
import { brands } from '../brand.ts'

export const generatedImages = table('publishing.generated_images', {
  brandId: uuid.key,
  id: uuid.key,
  /** Id of the first image of those that were generated together. */
  groupId: uuid,
  postId: uuid.maybe,
  prompt: text,
  model: text,
  requestedModel: text.maybe,
  /** Null after the asset was deleted. */
  assetId: uuid.maybe,
  authorId: uuid.maybe,
  ...stamps,
})

export type GeneratedImageRow = Row<typeof generatedImages>

export const generatedImageStore = store(generatedImages, {
  what: 'generated image',
  tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
  lists: { ofBrand: { below: 'brandId', order: 'newest first' } },
  manyBy: { groupId: 't.id' },
})
