import { nounRoutes } from '../../derive/route.ts'

export const threadRows = nounRoutes({
  select: {
    PostThread: {
      fields: 'id brandId title status postIds: posts { id } createdAt version',
      // A thread changes when the status of one of its posts does.
      changing: ['status', 'postIds'],
    },
  },
  routes: {
    'GET /api/threads': { run: 'postThreads', name: 'threads' },
    'POST /api/threads': { run: 'createPostThread', name: 'createThread', changing: [] },
    'GET /api/threads/:id': { run: 'postThread', name: 'thread' },
    'PUT /api/threads/:id/order': { run: 'reorderPostThread', name: 'reorderThread' },
  },
})
