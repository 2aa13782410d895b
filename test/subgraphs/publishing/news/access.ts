import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, accounts, byScope, change, type Fresh, readPosts, row } from '../../../access/row.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedPost } from '../post/seed.ts'

const postsAndAccounts: readonly Scope[] = ['publishing:accounts.read', 'publishing:posts.read']
const activity = (field: string) => (ids: Readonly<Record<string, string>>) => `{ brandActivities(brandId: "${ids.lively}") { nodes { ${field} } } }`
/** The latest thing that happened in the brand is a post. */
const nothingOfIt = 'refused nothing refused nothing nothing nothing hidden'

const webhooks: readonly Scope[] = ['publishing:api_keys.write']
const selection = '{ id }'

const freshWebhook: Fresh = async ({ graph, owner, ids }) => {
  const input = { brandId: ids.hooked!, url: 'https://example.com/', events: ['post.failed'] }
  const made = await graph.execute(
    'mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { endpoint { id } } }',
    { input },
    { as: owner },
  )
  return made.data().createWebhookEndpoint.endpoint.id
}
/** A brand for one cell, for it has twenty webhooks at most. */
const freshBrand: Fresh = async ({ graph, ids }) => (await seedBrand(graph, { organizationId: ids.organization! })).id
const webhookOfItsOwn: Fresh = async stage => freshWebhook({ ...stage, ids: { ...stage.ids, hooked: await freshBrand(stage) } })
/** A delivery that is over. */
const freshDelivery: Fresh = async stage => {
  const { graph, owner } = stage
  const id = await webhookOfItsOwn(stage)
  const made = (await graph.execute(`mutation { testWebhookEndpoint(input: { id: "${id}" }) { id } }`, {}, { as: owner })).data().testWebhookEndpoint.id
  await graph.rows(`update publishing.webhook_deliveries set status = 'FAILED', next_attempt_at = null where id = $1`, [made])
  return made
}
const webhook = (field: string) => (ids: Readonly<Record<string, string>>) => `{ webhookEndpoint(id: "${ids.webhook}") { ${field} } }`
const created = (field: string) =>
  change('createWebhookEndpoint', ({ fresh }) => `brandId: "${fresh}", url: "https://example.com/", events: ["post.failed"]`, field)
const route = (at: string, path: (id: string) => string, fresh: Fresh, body?: object) => ({
  at,
  scopes: webhooks,
  less: accounts,
  cells: accountants,
  path: (ids: Readonly<Record<string, string>>) => `/publishing/api/webhooks${path(ids.fresh!)}`,
  ...(body && { body: () => body }),
  fresh,
})

export const access: AccessRows = {
  async made({ graph, owner, outsider, commons, ids }) {
    const { id: lively } = await seedBrand(graph, { organizationId: ids.organization! })
    await seedPost(graph, { brandId: lively, owner })
    const { id: hooked } = await seedBrand(graph, { organizationId: ids.organization! })
    const id = await freshWebhook({ graph, owner, outsider, commons, ids: { ...ids, hooked } })
    ;(await graph.execute(`mutation { testWebhookEndpoint(input: { id: "${id}" }) { id } }`, {}, { as: owner })).data()
    return { lively, hooked, webhook: id }
  },
  fields: [
    row('Query.webhookEndpoint', webhooks, accounts, accountants, webhook('id'), 'webhookEndpoint'),
    row(
      'Query.webhookEndpoints',
      webhooks,
      accounts,
      accountants,
      ({ hooked }) => `{ webhookEndpoints(brandId: "${hooked}") ${selection} }`,
      'webhookEndpoints',
    ),
    row('WebhookEndpoint.deliveries', webhooks, accounts, accountants, webhook('deliveries { nodes { id } }'), 'webhookEndpoint.deliveries'),
    row('Mutation.createWebhookEndpoint', webhooks, accounts, accountants, created('secret'), 'createWebhookEndpoint', freshBrand),
    row('WebhookEndpointSecret.endpoint', webhooks, accounts, accountants, created('endpoint { id }'), 'createWebhookEndpoint.endpoint', freshBrand),
    row(
      'Mutation.rotateWebhookSecret',
      webhooks,
      accounts,
      accountants,
      change('rotateWebhookSecret', ({ fresh }) => `id: "${fresh}"`, 'secret'),
      'rotateWebhookSecret',
      webhookOfItsOwn,
    ),
    ...(['updateWebhookEndpoint', 'confirmWebhookEndpoint', 'deleteWebhookEndpoint', 'testWebhookEndpoint'] as const).map(name =>
      row(
        `Mutation.${name}`,
        webhooks,
        accounts,
        accountants,
        change(name, ({ fresh }) => `id: "${fresh}"`, 'id'),
        name,
        webhookOfItsOwn,
      ),
    ),
    row(
      'Mutation.redeliverWebhook',
      webhooks,
      accounts,
      accountants,
      change('redeliverWebhook', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'redeliverWebhook',
      freshDelivery,
    ),
    row('Query.brandActivities', readPosts, accounts, byScope, activity('id'), 'brandActivities'),
    row(
      'Subscription.brandActivity',
      readPosts,
      accounts,
      byScope,
      ({ brand }) => `subscription { brandActivity(brandId: "${brand}") { id } }`,
      'brandActivity',
    ),
    row('BrandActivity.connection', postsAndAccounts, readPosts, nothingOfIt, activity('connection { id }'), 'brandActivities.nodes.connection'),
    row('BrandActivity.post', readPosts, accounts, byScope, activity('post { id }'), 'brandActivities.nodes.post'),
    row('BrandActivity.user', readPosts, accounts, byScope, activity('user { id }'), 'brandActivities.nodes.user'),
  ],
  routes: [
    {
      at: 'GET /publishing/api/webhooks',
      scopes: webhooks,
      less: accounts,
      cells: accountants,
      path: ({ hooked }) => `/publishing/api/webhooks?brandId=${hooked}`,
    },
    {
      at: 'POST /publishing/api/webhooks',
      scopes: webhooks,
      less: accounts,
      cells: accountants,
      path: () => '/publishing/api/webhooks',
      body: ({ fresh: brandId }) => ({ brandId, url: 'https://example.com/', events: ['post.failed'] }),
      fresh: freshBrand,
    },
    route('GET /publishing/api/webhooks/:id', id => `/${id}`, webhookOfItsOwn),
    route('PUT /publishing/api/webhooks/:id', id => `/${id}`, webhookOfItsOwn, { active: false }),
    route('DELETE /publishing/api/webhooks/:id', id => `/${id}`, webhookOfItsOwn),
    route('POST /publishing/api/webhooks/:id/confirm', id => `/${id}/confirm`, webhookOfItsOwn),
    route('POST /publishing/api/webhooks/:id/rotate', id => `/${id}/rotate`, webhookOfItsOwn),
    route('POST /publishing/api/webhooks/:id/test', id => `/${id}/test`, webhookOfItsOwn),
    route('GET /publishing/api/webhooks/:id/deliveries', id => `/${id}/deliveries`, webhookOfItsOwn),
    route('POST /publishing/api/webhooks/deliveries/:id/redeliver', id => `/deliveries/${id}/redeliver`, freshDelivery),
    { at: 'GET /publishing/api/activity', scopes: readPosts, less: accounts, cells: byScope, path: ({ brand }) => `/publishing/api/activity?brandId=${brand}` },
  ],
}
