import { expect } from 'vitest'
import type { Exchanges } from './exchange.ts'

const path = '/providers/api/models'
const [first, second] = ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5']

/** Routes of models. */
export const models: Exchanges = () => ({
  [`GET ${path}/governance`]: {
    path: () => `${path}/governance`,
    forbidden: null,
    answers: () => ({
      status: 200,
      json: {
        platformDefaults: expect.arrayContaining([{ capability: 'chat', model: first, allowedModels: [first, second], level: 'platform' }]),
        overrides: expect.any(Array),
        recentUsage: expect.any(Array),
        lifecycle: expect.arrayContaining([expect.objectContaining({ model: first, lifecycle: 'active' })]),
        unpricedModels: [],
        candidateModels: expect.any(Array),
        sources: expect.arrayContaining([expect.objectContaining({ name: 'models-dev', kind: 'open_catalog' })]),
      },
    }),
  },
  [`POST ${path}/sync`]: {
    path: () => `${path}/sync`,
    body: () => ({ sources: ['models-dev'] }),
    forbidden: 'owner',
    by: 'super',
    answers: () => ({ status: 200, json: { id: expect.any(String), sources: expect.any(Array), added: expect.any(Number) } }),
  },
  [`GET ${path}/preferences`]: {
    path: () => `${path}/preferences`,
    forbidden: 'viewer',
    answers: () => ({ status: 200, json: { preferences: expect.arrayContaining([expect.objectContaining({ capability: 'chat' })]) } }),
  },
  [`PUT ${path}/preferences/:capability`]: {
    path: () => `${path}/preferences/chat`,
    body: () => ({ model: second, allowedModels: [first, second] }),
    forbidden: 'viewer',
    answers: () => ({ status: 200, json: { capability: 'chat', model: second, allowedModels: [first, second], level: 'organization' } }),
  },
  [`GET ${path}/chains`]: {
    path: () => `${path}/chains`,
    forbidden: 'viewer',
    answers: () => ({ status: 200, json: { chains: expect.arrayContaining([expect.objectContaining({ capability: 'chat' })]) } }),
  },
  [`PUT ${path}/chains/:capability`]: {
    path: () => `${path}/chains/chat`,
    body: () => ({ models: [second, first] }),
    forbidden: 'viewer',
    answers: () => ({ status: 200, json: { capability: 'chat', models: [second, first], level: 'organization' } }),
  },
})
