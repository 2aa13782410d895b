import { expect } from 'vitest'
import { type Exchanges, list, made } from './exchange.ts'

const path = '/providers/api/limits'

/** Routes of spend limits. */
export const spending: Exchanges = world => {
  let count = 0
  const limit = () => {
    count += 1
    return {
      scope_type: 'model',
      scope_value: `openai/model-${count}`,
      period: 'month',
      softLimitMicros: 4_000_000,
      hardLimitMicros: 5_000_000,
      note: 'For trials',
    }
  }
  const aLimit = async () => (await world().ask('owner', 'POST', path, limit())).json.id as string
  const one = (id: string) => `${path}/${id}`
  const body = limit()
  return {
    [`POST ${path}`]: { path: () => path, body: () => body, forbidden: 'viewer', answers: made(path) },
    [`GET ${path}`]: { path: () => path, forbidden: 'viewer', answers: list('limits') },
    [`GET ${path}/options`]: {
      path: () => `${path}/options`,
      forbidden: 'viewer',
      answers: () => ({
        status: 200,
        json: { options: expect.arrayContaining([expect.objectContaining({ scope_type: 'organization', levels: ['organization'] })]) },
      }),
    },
    [`GET ${path}/:id`]: {
      path: one,
      make: aLimit,
      forbidden: 'viewer',
      answers: id => ({
        status: 200,
        json: {
          id,
          level: 'organization',
          scope_type: 'model',
          period: 'month',
          hardLimit: { limitMicros: 5_000_000, remainingMicros: 5_000_000 },
          spentMicros: 0,
        },
      }),
    },
    [`PUT ${path}/:id`]: {
      path: one,
      body: () => ({ hardLimitMicros: 6_000_000 }),
      make: aLimit,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, hardLimit: { limitMicros: 6_000_000 } } }),
    },
    [`DELETE ${path}/:id`]: { path: one, make: aLimit, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
  }
}
