import { nounRoutes } from '../derive/route.ts'

export const postRows = nounRoutes({
  select: {
    Post: {
      fields: `
        id brandId threadId position platform copy title link tags visibility media { assetId: asset { id } altText } groupId campaignId
        origin held status deliveryPhase approval scheduledAt waitsUntil waitsForId: waitsFor { id } publishedAt createdAt updatedAt version
        platformPostId permalink target { kind externalId name }
        failure { code message failedAt attempts category advice retryable }
        firstComment { text status platformPostId message } author { id }`,
      // A delivery in progress, of this post or of the post it waits for, changes these fields.
      changing: ['deliveryPhase', 'waitsUntil', 'waitsForId'],
    },
    PostCheck: 'platform length maxLength problems { severity code field message }',
  },
  routes: {
    'GET /api/posts': 'posts',
    'POST /api/posts': 'createPost',
    'GET /api/posts/:id': 'post',
    'PUT /api/posts/:id': 'updatePost',
    'DELETE /api/posts/:id': 'deletePost',
    'POST /api/posts/:id/publish': { run: 'publishPost', status: 202 },
    'POST /api/posts/:id/cancel': 'cancelPost',
    'POST /api/posts/:id/resolve': 'resolveDelivery',
    'POST /api/posts/:id/reschedule': 'reschedulePost',
    'POST /api/posts/:id/submit': { run: 'submitPost', mayBeEmpty: true },
    'POST /api/posts/:id/decide': 'decidePost',
    'POST /api/posts/compose': {
      run: 'composePosts',
      select: 'groupId posts',
      status: 201,
      location: '/publishing/api/posts?groupId={groupId}',
    },
    'POST /api/posts/check': { run: 'postChecks', list: 'checks' },
    'POST /api/posts/bulk/reschedule': { run: 'reschedulePosts', select: 'results { id post error { code message } } succeeded failed' },
    'POST /api/posts/bulk/delete': { run: 'deletePosts', select: 'results { id error { code message } } succeeded failed' },
    'GET /api/posts/:id/versions': {
      run: 'post',
      name: 'postVersions',
      select: 'versions { version createdAt authorId: author { id } copy title link target { kind externalId name } mediaIds }',
    },
    'POST /api/posts/:id/versions/:version/restore': { run: 'restorePostVersion', mayBeEmpty: true },
  },
})
