import { nounRoutes } from '../../derive/route.ts'

export const mediaFolderRows = nounRoutes({
  select: { MediaFolder: 'id brandId name parentId assetCount version' },
  routes: {
    'GET /api/media/folders': { run: 'mediaFolders', counted: true },
    'POST /api/media/folders': { run: 'createMediaFolder', location: '/publishing/api/media/folders/{id}' },
    'PUT /api/media/folders/:id': 'updateMediaFolder',
    'DELETE /api/media/folders/:id': 'deleteMediaFolder',
  },
})
