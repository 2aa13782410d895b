import { expect } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { failure } from '../../../subgraphs/publishing/delivery/failure.ts'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import { seedConnection } from '../../subgraphs/publishing/connection/seed.ts'
import { type Exchanges, list, made } from './exchange.ts'

export const publishing: Exchanges = world => {
  const aPost = async () => (await world().write()).id
  const aScheduledPost = async () => {
    const id = await aPost()
    await world().ask('owner', 'PUT', `/posts/${id}`, { scheduledAt: '2999-01-01T00:00:00Z' })
    return id
  }
  const aDoubtfulPost = async () => {
    const { job, clock } = world().graph
    const id = await aPost()
    const post = (await job.posts.byId.load(id))!
    const unknown = { status: 'FAILED', deliveryPhase: 'UNKNOWN', attempts: 1, ...failure('OUTCOME_UNKNOWN', 'X', 'silence', clock.now()) } as const
    await inTransaction(job, async unit => {
      await job.attempts.begin({ post, connectionId: null, externalAccountId: 'nobody', copy: post.copy, inReplyTo: null }, unit)
      await job.posts.update(post, unknown, unit.transaction)
    })
    return id
  }
  const aBrand = async () => (await world().ask('owner', 'POST', '/brands', { name: 'A brand' })).json.id as string
  const anArchivedBrand = async () => {
    const id = await aBrand()
    await world().ask('owner', 'POST', `/brands/${id}/archive`)
    return id
  }
  const aConnection = async () => (await seedConnection(world().graph, world(), { externalAccountId: newId() })).id
  const connection = (id: string) => `/connections/${id}`
  const aThread = async () => {
    const body = { brandId: world().brandId, platform: 'x', posts: [{ copy: 'One' }, { copy: 'Two' }] }
    return (await world().ask('owner', 'POST', '/threads', body)).json.id as string
  }
  const approving = async () => (await world().ask('owner', 'POST', '/brands', { name: 'Approved', approvalMode: 'optional' })).json.id as string
  const inAnHour = () => world().graph.clock.in(3_600_000).toISOString()
  /** Of the posts of a thread, as it is asked for. */
  let order: string[] = []
  const post = (id: string) => `/posts/${id}`
  const brand = (id: string) => `/brands/${id}`
  const archived = { archivedAt: expect.any(String) }

  return {
    'GET /publishing/api/posts': { path: () => '/posts', forbidden: 'stranger', answers: list('posts') },
    'POST /publishing/api/posts': {
      path: () => '/posts',
      body: () => ({ brandId: world().brandId, platform: 'x', copy: 'Hello' }),
      forbidden: 'viewer',
      answers: made('/publishing/api/posts'),
    },
    'GET /publishing/api/posts/:id': { path: post, make: aPost, forbidden: 'stranger', answers: id => ({ status: 200, json: { id, status: 'draft' } }) },
    'PUT /publishing/api/posts/:id': {
      path: post,
      make: aPost,
      body: () => ({ copy: 'New' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, copy: 'New', version: 2 } }),
    },
    'DELETE /publishing/api/posts/:id': { path: post, make: aPost, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    'POST /publishing/api/posts/:id/publish': {
      path: id => `/posts/${id}/publish`,
      make: aPost,
      forbidden: 'viewer',
      answers: id => ({ status: 202, json: { id, status: 'scheduled' } }),
    },
    'POST /publishing/api/posts/:id/cancel': {
      path: id => `/posts/${id}/cancel`,
      make: aScheduledPost,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'draft', scheduledAt: null } }),
    },
    'POST /publishing/api/posts/:id/resolve': {
      path: id => `/posts/${id}/resolve`,
      make: aDoubtfulPost,
      body: () => ({ platformPostId: null }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'failed', deliveryPhase: 'none', failure: { code: 'NOT_DELIVERED' } } }),
    },
    'GET /publishing/api/connections': { path: () => '/connections', forbidden: 'reader', answers: list('connections') },
    'GET /publishing/api/connections/:id': {
      path: connection,
      make: aConnection,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, platform: 'x', health: 'healthy', active: true, targets: [] } }),
    },
    'DELETE /publishing/api/connections/:id': { path: connection, make: aConnection, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }) },
    'PUT /publishing/api/connections/:id/targets': {
      path: id => `/connections/${id}/targets`,
      make: aConnection,
      body: () => ({ targets: [] }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, targets: [] } }),
    },
    'POST /publishing/api/connections/:id/check': {
      path: id => `/connections/${id}/check`,
      make: async () => (await seedConnection(world().graph, world())).id,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, lastCheckedAt: expect.any(String), health: 'healthy' } }),
    },
    'POST /publishing/api/internal/connections/:id/refresh': {
      path: id => `/internal/connections/${id}/refresh`,
      make: async () => (await seedConnection(world().graph, world())).id,
      forbidden: 'owner',
      by: 'publishing',
      answers: connectionId => ({ status: 200, json: { connectionId, platform: 'x', refreshed: true, accessExpiresAt: expect.any(String) } }),
    },
    'GET /publishing/api/integrations': {
      path: () => `/integrations?brandId=${world().brandId}`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { integrations: expect.arrayContaining([expect.objectContaining({ platform: 'x', readiness: 'sandbox_only' })]) } }),
    },
    'POST /publishing/api/integrations/:platform/connect': {
      path: () => '/integrations/x/connect',
      body: () => ({ brandId: world().brandId }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { authorizationUrl: expect.stringMatching(/^http.*state=/) } }),
    },
    'GET /publishing/api/widget': { path: () => '/widget', forbidden: 'reader', answers: () => ({ status: 200, json: { statistics: expect.any(Array) } }) },
    'GET /publishing/api/brands': { path: () => '/brands', forbidden: 'reader', answers: list('brands') },
    'POST /publishing/api/brands': { path: () => '/brands', body: () => ({ name: 'A brand' }), forbidden: 'viewer', answers: made('/publishing/api/brands') },
    'GET /publishing/api/brands/:brandId': { path: brand, make: aBrand, forbidden: 'reader', answers: id => ({ status: 200, json: { id, version: 1 } }) },
    'PUT /publishing/api/brands/:brandId': {
      path: brand,
      make: aBrand,
      body: () => ({ name: 'New' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, name: 'New', version: 2 } }),
    },
    'POST /publishing/api/brands/:brandId/archive': {
      path: id => `/brands/${id}/archive`,
      make: aBrand,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, ...archived } }),
    },
    'POST /publishing/api/brands/:brandId/restore': {
      path: id => `/brands/${id}/restore`,
      make: anArchivedBrand,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, archivedAt: null } }),
    },
    'POST /publishing/api/brands/:brandId/pause': {
      path: id => `/brands/${id}/pause`,
      make: aBrand,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, pausedAt: expect.any(String) } }),
    },
    'POST /publishing/api/brands/:brandId/resume': {
      path: id => `/brands/${id}/resume`,
      make: aBrand,
      body: () => ({ overdue: 'send' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, pausedAt: null } }),
    },
    'POST /publishing/api/brands/:brandId/transfer-organization': {
      path: id => `/brands/${id}/transfer-organization`,
      make: aBrand,
      body: () => ({ organizationId: world().organizationId }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, organizationId: world().organizationId } }),
    },
    'POST /publishing/api/posts/:id/reschedule': {
      path: id => `/posts/${id}/reschedule`,
      make: aPost,
      body: () => ({ scheduledAt: inAnHour() }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'scheduled' } }),
    },
    'POST /publishing/api/posts/:id/submit': {
      path: id => `/posts/${id}/submit`,
      make: async () => (await world().write({ brandId: await approving() })).id,
      body: () => ({ comment: 'May it go out?' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, approval: 'pending' } }),
    },
    'POST /publishing/api/posts/:id/decide': {
      path: id => `/posts/${id}/decide`,
      make: async () => {
        const { id } = await world().write({ brandId: await approving() })
        await world().ask('owner', 'POST', `/posts/${id}/submit`)
        return id
      },
      body: () => ({ decision: 'request_changes', comment: 'Shorter, please' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, approval: 'changes_requested', status: 'draft' } }),
    },
    'POST /publishing/api/posts/compose': {
      path: () => '/posts/compose',
      body: () => ({ brandId: world().brandId, platforms: ['x', 'linkedin_page'], copy: 'Everywhere', overrides: [{ platform: 'x', copy: 'On X' }] }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { groupId: expect.any(String), posts: [{ platform: 'x', copy: 'On X' }, { platform: 'linkedin_page' }] } }),
    },
    'POST /publishing/api/posts/check': {
      path: () => '/posts/check',
      body: () => ({ brandId: world().brandId, platforms: ['instagram'], copy: 'Text alone' }),
      forbidden: 'stranger',
      answers: () => ({ status: 200, json: { checks: [{ platform: 'instagram', length: 10, problems: expect.any(Array) }] } }),
    },
    'POST /publishing/api/posts/bulk/reschedule': {
      path: () => '/posts/bulk/reschedule',
      body: () => ({ items: [{ id: world().postId, scheduledAt: world().graph.clock.in(-3_600_000).toISOString() }] }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { succeeded: 0, failed: 1, results: [{ id: world().postId, post: null, error: { code: 'BAD_USER_INPUT' } }] } }),
    },
    'POST /publishing/api/posts/bulk/delete': {
      path: () => '/posts/bulk/delete',
      body: () => ({ items: [{ id: world().postId, version: 999 }] }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { succeeded: 0, failed: 1, results: [{ id: world().postId, error: { code: 'CONFLICT' } }] } }),
    },
    'GET /publishing/api/posts/:id/versions': {
      path: id => `/posts/${id}/versions`,
      make: aPost,
      forbidden: 'stranger',
      answers: () => ({ status: 200, json: { versions: [{ version: 1, copy: 'A post' }] } }),
    },
    'POST /publishing/api/posts/:id/versions/:version/restore': {
      path: id => `/posts/${id}/versions/1/restore`,
      make: async () => {
        const id = await aPost()
        await world().ask('owner', 'PUT', `/posts/${id}`, { copy: 'Another text' })
        return id
      },
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, copy: 'A post', version: 3 } }),
    },
    'GET /publishing/api/threads': { path: () => `/threads?brandId=${world().brandId}`, forbidden: 'stranger', answers: list('threads') },
    'POST /publishing/api/threads': {
      path: () => '/threads',
      body: () => ({ brandId: world().brandId, platform: 'x', title: 'Three things', posts: [{ copy: 'One' }, { copy: 'Two' }] }),
      forbidden: 'viewer',
      answers: made('/publishing/api/threads'),
    },
    'GET /publishing/api/threads/:id': {
      path: id => `/threads/${id}`,
      make: aThread,
      forbidden: 'stranger',
      answers: id => ({ status: 200, json: { id, status: 'draft', version: 1, postIds: [id, expect.any(String)] } }),
    },
    'PUT /publishing/api/threads/:id/order': {
      path: id => `/threads/${id}/order`,
      make: async () => {
        const id = await aThread()
        order = [...(await world().ask('owner', 'GET', `/threads/${id}`)).json.postIds].reverse()
        return id
      },
      body: () => ({ postIds: order }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, version: 2, postIds: order } }),
    },
  }
}
