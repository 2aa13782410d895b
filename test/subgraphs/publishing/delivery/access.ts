import { type AccessRows, change, readPosts, row, writePosts, writers } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row(
      'Mutation.resolveDelivery',
      writePosts,
      readPosts,
      writers,
      change('resolveDelivery', ({ fresh }) => `id: "${fresh}", platformPostId: null`, 'id'),
      'resolveDelivery',
      'unknown post',
    ),
  ],
}
