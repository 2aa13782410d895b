import { expect } from 'vitest'
import { seedCall } from '../../subgraphs/providers/call/seed.ts'
import { type Exchanges, list, made } from './exchange.ts'
import { models } from './models.ts'
import { processor } from './processor.ts'
import { spending } from './spending.ts'

export const providers: Exchanges = world => {
  let count = 0
  const path = '/providers/api/credentials'
  const fields = [{ name: 'apiKey', value: 'sk-example-0000000000' }]
  /** One that the stand-in of OpenAI takes: the organization's models are called with it from then on. */
  const taken = [{ name: 'apiKey', value: 'sk-sandbox-0000000000' }]
  const aCredential = async (given = fields) => {
    count += 1
    const body = { provider: 'custom', name: `models-${count}`, baseUrl: `${world().graph.x.origin}/openai/v1`, fields: given }
    return (await world().ask('owner', 'POST', path, body)).json.id as string
  }
  const one = (id: string) => `${path}/${id}`
  const clients = '/providers/api/service-clients'
  const client = (appId: string) => ({ appId, name: 'Support', operations: ['completions', 'email'] })
  const aClient = async () => {
    count += 1
    return (await world().ask('super', 'POST', clients, client(`app_support_${count}`))).json.id as string
  }
  return {
    [`POST ${path}`]: { path: () => path, body: () => ({ provider: 'openai', fields: taken }), forbidden: 'viewer', answers: made(path) },
    [`GET ${path}`]: { path: () => path, forbidden: 'viewer', answers: list('credentials') },
    [`GET ${path}/:id`]: {
      path: one,
      make: () => aCredential(),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, family: 'ai', level: 'organization', fields: [{ name: 'apiKey', value: null, masked: '••••0000' }] } }),
    },
    [`PUT ${path}/:id`]: {
      path: one,
      body: () => ({ name: `models-${++count}`, active: false }),
      make: () => aCredential(),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'disabled', version: 2 } }),
    },
    [`POST ${path}/:id/rotate`]: {
      path: id => `${one(id)}/rotate`,
      body: () => ({ fields: [{ name: 'apiKey', value: 'sk-example-0000000001' }], graceSeconds: 600 }),
      make: () => aCredential(),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'untested', graceEndsAt: expect.any(String), version: 2 } }),
    },
    [`POST ${path}/:id/test`]: {
      path: id => `${one(id)}/test`,
      make: () => aCredential([{ name: 'apiKey', value: 'sk-sandbox-example-0000' }]),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'working', testMessage: expect.any(String) } }),
    },
    'GET /providers/api/video/quota': {
      path: () => '/providers/api/video/quota',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { buckets: expect.any(Array), nextCursor: null } }),
    },
    [`DELETE ${path}/:id`]: { path: one, make: () => aCredential(), forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    [`GET ${clients}`]: { path: () => clients, forbidden: 'owner', by: 'super', answers: list('serviceClients') },
    [`POST ${clients}`]: { path: () => clients, body: () => client('app_support'), forbidden: 'owner', by: 'super', answers: made(clients) },
    [`GET ${clients}/:id`]: {
      path: id => `${clients}/${id}`,
      make: aClient,
      forbidden: 'owner',
      by: 'super',
      answers: id => ({ status: 200, json: { id, operations: ['completions', 'email'], active: true } }),
    },
    [`PUT ${clients}/:id`]: {
      path: id => `${clients}/${id}`,
      body: () => ({ name: 'Support desk', operations: ['completions'], active: true }),
      make: aClient,
      forbidden: 'owner',
      by: 'super',
      answers: id => ({ status: 200, json: { id, name: 'Support desk', operations: ['completions'] } }),
    },
    [`POST ${clients}/:id/tokens`]: {
      path: id => `${clients}/${id}/tokens`,
      body: () => ({}),
      make: aClient,
      forbidden: 'owner',
      by: 'super',
      answers: () => ({ status: 201, headers: { 'cache-control': 'no-store' }, json: { tokenId: expect.any(String), secret: expect.stringMatching(/^sgs_/) } }),
    },
    [`DELETE ${clients}/:id/tokens/:tokenId`]: {
      path: id => `${clients}/${id.replace(' ', '/tokens/')}`,
      make: async () => {
        const id = await aClient()
        const { json } = await world().ask('super', 'POST', `${clients}/${id}/tokens`, {})
        return `${id} ${json.tokenId}`
      },
      forbidden: 'owner',
      by: 'super',
      answers: () => ({ status: 204, text: '' }),
    },
    ...models(world),
    ...spending(world),
    'GET /providers/api/calls': { path: () => '/providers/api/calls', forbidden: 'reader', answers: list('calls') },
    'GET /providers/api/calls/:id': {
      path: id => `/providers/api/calls/${id}`,
      make: async () => (await seedCall(world().graph, { organizationId: world().organizationId, costMicros: 43n })).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'succeeded', family: 'ai', costMicros: 43, userId: null } }),
    },
    'GET /providers/api/usage': { path: () => '/providers/api/usage?groupBy=app,model', forbidden: 'reader', answers: list('usage') },
    'GET /providers/api/apps': { path: () => '/providers/api/apps', forbidden: 'reader', answers: list('apps') },
    'POST /providers/api/organizations': {
      path: () => '/providers/api/organizations',
      body: () => ({ organizationId: world().organizationId }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { organizationId: world().organizationId, status: 'active', promptStorage: 'off', retentionDays: 30 } }),
    },
    'GET /providers/api/widget': {
      path: () => '/providers/api/widget',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { statistics: expect.any(Array) } }),
    },
    // Recorded last: each exchange is a call, and the lists above show earlier ones.
    ...processor(world),
  }
}
