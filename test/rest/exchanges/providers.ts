import { expect } from 'vitest'
import { type Exchanges, list, made } from './exchange.ts'

export const providers: Exchanges = world => {
  let count = 0
  const path = '/providers/api/credentials'
  const fields = [{ name: 'apiKey', value: 'sk-example-0000000000' }]
  const aCredential = async () => {
    count += 1
    const body = { provider: 'custom', name: `models-${count}`, baseUrl: `${world().graph.x.origin}/openai/v1`, fields }
    return (await world().ask('owner', 'POST', path, body)).json.id as string
  }
  const one = (id: string) => `${path}/${id}`
  return {
    [`POST ${path}`]: { path: () => path, body: () => ({ provider: 'openai', fields }), forbidden: 'viewer', answers: made(path) },
    [`GET ${path}`]: { path: () => path, forbidden: 'viewer', answers: list('credentials') },
    [`GET ${path}/:id`]: {
      path: one,
      make: aCredential,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, family: 'ai', level: 'organization', fields: [{ name: 'apiKey', value: null, masked: '••••0000' }] } }),
    },
    [`DELETE ${path}/:id`]: { path: one, make: aCredential, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    'GET /providers/api/widget': {
      path: () => '/providers/api/widget',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { statistics: expect.any(Array) } }),
    },
  }
}
