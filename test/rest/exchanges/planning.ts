import { expect } from 'vitest'
import { type Exchanges, list, made } from './exchange.ts'

export const planning: Exchanges = world => {
  const aCampaign = async () => (await world().ask('owner', 'POST', '/campaigns', { brandId: world().brandId, name: 'Launch' })).json.id as string
  const anArchivedCampaign = async () => {
    const id = await aCampaign()
    await world().ask('owner', 'POST', `/campaigns/${id}/archive`)
    return id
  }
  const aPlannedPost = async () => (await world().write({ scheduledAt: world().graph.clock.in(86_400_000).toISOString() })).id
  const aBrandWithFeed = async () => {
    const { id: brandId } = (await world().ask('owner', 'POST', '/brands', { name: 'A brand' })).json
    await world().ask('owner', 'POST', '/calendar/feed', { brandId })
    return brandId as string
  }
  const aWebhook = async () => {
    const { id: brandId } = (await world().ask('owner', 'POST', '/brands', { name: 'A brand' })).json
    return (await world().ask('owner', 'POST', '/webhooks', { brandId, url: 'https://example.com/hook', events: ['post.published'] })).json.id as string
  }
  const aDelivery = async () => {
    const { id } = (await world().ask('owner', 'POST', `/webhooks/${await aWebhook()}/test`)).json
    await world().graph.rows(`update publishing.webhook_deliveries set status = 'FAILED', next_attempt_at = null where id = $1`, [id])
    return id as string
  }
  const webhook = (id: string) => `/webhooks/${id}`
  const aSecret = expect.stringMatching(/^whsec_/)
  const aPublishedPost = async () => {
    const { id } = await world().write()
    const published = `update publishing.posts set status = 'PUBLISHED', published_at = $2, platform_post_id = $1::text, permalink = 'https://x.com/' where id = $1`
    await world().graph.rows(published, [id, world().graph.clock.now()])
    return id
  }
  const figures = { status: 200, json: { snapshots: [], latest: null } }
  const campaign = (id: string) => `/campaigns/${id}`
  const range = () =>
    `from=${world().graph.clock.now().toISOString()}&to=${world()
      .graph.clock.in(7 * 86_400_000)
      .toISOString()}`

  return {
    'GET /publishing/api/campaigns': { path: () => `/campaigns?brandId=${world().brandId}`, forbidden: 'stranger', answers: list('campaigns') },
    'POST /publishing/api/campaigns': {
      path: () => '/campaigns',
      body: () => ({ brandId: world().brandId, name: 'Launch', startsOn: '2027-03-01', endsOn: '2027-03-31' }),
      forbidden: 'viewer',
      answers: made('/publishing/api/campaigns'),
    },
    'GET /publishing/api/campaigns/:id': {
      path: campaign,
      make: aCampaign,
      forbidden: 'stranger',
      answers: id => ({ status: 200, json: { id, counts: { draft: 0, scheduled: 0, published: 0, failed: 0 } } }),
    },
    'PUT /publishing/api/campaigns/:id': {
      path: campaign,
      make: aCampaign,
      body: () => ({ color: '#1e90ff' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, color: '#1e90ff', version: 2 } }),
    },
    'DELETE /publishing/api/campaigns/:id': {
      path: campaign,
      make: aCampaign,
      forbidden: 'viewer',
      answers: () => ({ status: 204, text: '' }),
      once: true,
    },
    'POST /publishing/api/campaigns/:id/archive': {
      path: id => `/campaigns/${id}/archive`,
      make: aCampaign,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, archivedAt: expect.any(String) } }),
    },
    'POST /publishing/api/campaigns/:id/restore': {
      path: id => `/campaigns/${id}/restore`,
      make: anArchivedCampaign,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, archivedAt: null } }),
    },
    'GET /publishing/api/calendar': {
      path: () => `/calendar?brandId=${world().brandId}&${range()}`,
      forbidden: 'reader',
      answers: list('entries'),
    },
    'PUT /publishing/api/calendar/:id': {
      path: id => `/calendar/${id}`,
      make: aPlannedPost,
      body: () => ({
        at: world()
          .graph.clock.in(2 * 86_400_000)
          .toISOString(),
      }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, kind: 'post', status: 'scheduled' } }),
    },
    'POST /publishing/api/calendar/feed': {
      path: () => '/calendar/feed',
      body: () => ({ brandId: world().brandId }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { url: expect.stringMatching(/\/publishing\/calendar\/[\w-]{43}\.ics$/) } }),
    },
    'GET /publishing/api/webhooks': {
      path: () => `/webhooks?brandId=${world().brandId}`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { webhooks: expect.any(Array) } }),
    },
    'POST /publishing/api/webhooks': {
      path: () => '/webhooks',
      body: () => ({ brandId: world().brandId, url: 'https://example.com/hook', events: ['post.published'] }),
      forbidden: 'viewer',
      answers: () => ({ ...made('/publishing/api/webhooks')(), json: { secret: aSecret, active: true } }),
    },
    'GET /publishing/api/webhooks/:id': { path: webhook, make: aWebhook, forbidden: 'viewer', answers: id => ({ status: 200, json: { id, version: 1 } }) },
    'PUT /publishing/api/webhooks/:id': {
      path: webhook,
      make: aWebhook,
      body: () => ({ active: false }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, active: false, version: 2 } }),
    },
    'DELETE /publishing/api/webhooks/:id': { path: webhook, make: aWebhook, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    'POST /publishing/api/webhooks/:id/confirm': {
      path: id => `/webhooks/${id}/confirm`,
      make: aWebhook,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, state: 'active', version: 1 } }),
    },
    'POST /publishing/api/webhooks/:id/rotate': {
      path: id => `/webhooks/${id}/rotate`,
      make: aWebhook,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, secret: aSecret, version: 2 } }),
    },
    'POST /publishing/api/webhooks/:id/test': {
      path: id => `/webhooks/${id}/test`,
      make: aWebhook,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { event: 'webhook.test', status: 'pending', attempts: 0 } }),
    },
    'GET /publishing/api/webhooks/:id/deliveries': {
      path: id => `/webhooks/${id}/deliveries`,
      make: aWebhook,
      forbidden: 'viewer',
      answers: list('deliveries'),
    },
    'POST /publishing/api/webhooks/deliveries/:id/redeliver': {
      path: id => `/webhooks/deliveries/${id}/redeliver`,
      make: aDelivery,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'pending', attempts: 0 } }),
    },
    'GET /publishing/api/dashboard': {
      path: () => `/dashboard?brandId=${world().brandId}`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { failed: expect.any(Number), nextIds: expect.any(Array) } }),
    },
    'GET /publishing/api/analytics': {
      path: () => `/analytics?brandId=${world().brandId}&${range()}`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { totals: { posts: 0 }, byDay: expect.any(Array) } }),
    },
    'GET /publishing/api/posts/:id/analytics': { path: id => `/posts/${id}/analytics`, make: aPublishedPost, forbidden: 'reader', answers: () => figures },
    'POST /publishing/api/posts/:id/analytics/refresh': {
      path: id => `/posts/${id}/analytics/refresh`,
      make: aPublishedPost,
      forbidden: 'reader',
      answers: () => figures,
    },
    'GET /publishing/api/activity': { path: () => `/activity?brandId=${world().brandId}`, forbidden: 'stranger', answers: list('activity') },
    'GET /publishing/api/calendar/feed': {
      path: id => `/calendar/feed?brandId=${id}`,
      make: aBrandWithFeed,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { brandId: id, resting: false } }),
    },
    'POST /publishing/api/calendar/feed/confirm': {
      path: id => `/calendar/feed/confirm?brandId=${id}`,
      make: aBrandWithFeed,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { brandId: id, resting: false } }),
    },
    'DELETE /publishing/api/calendar/feed': {
      path: id => `/calendar/feed?brandId=${id}`,
      make: aBrandWithFeed,
      forbidden: 'viewer',
      answers: () => ({ status: 204, text: '' }),
      once: true,
    },
  }
}
