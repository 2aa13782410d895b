import { tagOfVersion } from '../../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../../row.ts'
import {
  type CreateMediaFolderInput,
  RestCreateMediaFolderDocument,
  RestDeleteMediaFolderDocument,
  RestMediaFoldersDocument,
  type RestMediaFoldersQuery,
  RestUpdateMediaFolderDocument,
  type UpdateMediaFolderInput,
} from './folder.generated.ts'

type GraphFolder = NonNullable<RestMediaFoldersQuery['mediaFolders']>[number]

const one = (folder: GraphFolder | null | undefined): RowReply | null => (folder ? { headers: { etag: tagOfVersion(folder.version) }, body: folder } : null)

export const mediaFolderRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/media/folders',
    operation: RestMediaFoldersDocument,
    query: ['brandId'],
    variables: ({ query }) => ({ brandId: query.brandId! }),
    reply: ({ mediaFolders }) => mediaFolders && { body: { folders: mediaFolders, nextCursor: null, totalCount: mediaFolders.length } },
  }),
  operationRow({
    method: 'POST',
    path: '/api/media/folders',
    operation: RestCreateMediaFolderDocument,
    body: ['brandId', 'name', 'parentId'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as CreateMediaFolderInput }),
    reply: ({ createMediaFolder }) => {
      const made = one(createMediaFolder)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/publishing/api/media/folders/${createMediaFolder!.id}` } }
    },
  }),
  operationRow({
    method: 'PUT',
    path: '/api/media/folders/:id',
    operation: RestUpdateMediaFolderDocument,
    body: ['name', 'parentId'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as UpdateMediaFolderInput }),
    reply: ({ updateMediaFolder }) => one(updateMediaFolder),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/media/folders/:id',
    operation: RestDeleteMediaFolderDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteMediaFolder }) => deleteMediaFolder && { status: 204 },
  }),
]
