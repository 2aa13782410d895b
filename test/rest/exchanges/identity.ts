import { expect } from 'vitest'
import { type Exchanges, list } from './exchange.ts'

export const identity: Exchanges = world => {
  const path = '/identity/api/api-keys'
  const body = () => ({ name: 'importer', service: 'publishing', scopes: ['posts:read'] })
  const aKey = async () => (await world().ask('owner', 'POST', path, body())).json.apiKey.id as string
  const shown = { name: 'importer', state: 'active', scopes: ['publishing:posts.read'], rateLimit: 600, revokedAt: null }
  const secret = expect.stringMatching(/^sgk_[\w-]{43}$/)
  return {
    [`GET ${path}`]: { path: () => `${path}?service=launcher`, forbidden: 'viewer', answers: list('apiKeys') },
    [`POST ${path}`]: { path: () => path, body, forbidden: 'viewer', answers: () => ({ status: 201, json: { secret, apiKey: shown } }) },
    [`POST ${path}/:id/rotate`]: {
      path: id => `${path}/${id}/rotate`,
      body: () => ({ graceSeconds: 3600 }),
      make: aKey,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { secret, apiKey: { ...shown, id, previousEndsAt: expect.any(String) } } }),
    },
    [`DELETE ${path}/:id`]: { path: id => `${path}/${id}`, make: aKey, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }) },
  }
}
