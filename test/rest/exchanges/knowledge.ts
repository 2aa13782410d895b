import { expect } from 'vitest'
import { type Exchanges, list, made } from './exchange.ts'

export const knowledge: Exchanges = world => {
  const sources = '/agents/api/knowledge-sources'
  const source = (id: string) => `${sources}/${id}`
  const handbook = {
    title: 'Handbook',
    kind: 'text',
    text: 'The office opens at nine.',
    actions: [{ kind: 'link', label: 'Open', url: 'https://acme.example/' }],
  }
  /** One that is indexed, so that every run records the same. */
  const aSource = async () => {
    const { id } = (await world().ask('owner', 'POST', sources, handbook)).json as { id: string }
    await expect.poll(async () => (await world().ask('owner', 'GET', source(id))).json.status, { timeout: 10_000 }).toBe('ready')
    return id
  }
  return {
    [`GET ${sources}/:id`]: {
      path: source,
      make: aSource,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, kind: 'text', visibility: 'organization', stale: false } }),
    },
    // Recorded while the newest one is indexed.
    [`GET ${sources}`]: { path: () => sources, forbidden: 'reader', answers: list('knowledgeSources') },
    [`POST ${sources}`]: { path: () => sources, body: () => handbook, forbidden: 'viewer', answers: made(sources) },
    [`PUT ${sources}/:id`]: {
      path: source,
      make: aSource,
      body: () => ({ title: 'House rules' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, title: 'House rules', version: 3 } }),
    },
    [`POST ${sources}/:id/reindex`]: {
      path: id => `${source(id)}/reindex`,
      make: aSource,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id } }),
    },
    [`DELETE ${sources}/:id`]: { path: source, make: aSource, forbidden: 'viewer', once: true, answers: () => ({ status: 204 }) },
  }
}
