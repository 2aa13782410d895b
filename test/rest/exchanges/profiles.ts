import { expect } from 'vitest'
import type { Exchanges } from './exchange.ts'

/** Routes that use profiles and take back what they hold; those that make them are with the agents. */
export const profiles: Exchanges = world => {
  const list = '/agents/api/person-profiles'
  const at = (id: string) => `${list}/${id.split('/')[0]}`
  const part = (id: string, place: number) => id.split('/')[place]!
  const style = { tone: 'dry' }
  const ask = async (path: string, body: object) => (await world().ask('owner', 'POST', path, body)).json
  const aProfile = async () => {
    const usagePolicies = [{ product: 'publishing', allowed: true }]
    const authorizations = [{ kind: 'consent', reference: 'page 3' }]
    return (await ask(list, { displayName: 'A voice', status: 'active', writingStyle: style, usagePolicies, authorizations })).id as string
  }
  const withSource = async () => {
    const id = await aProfile()
    return `${id}/${(await ask(`${list}/${id}/sources`, { kind: 'post', title: 'A post', text: 'One step, then the next.' })).id}`
  }
  const withAuthorization = async () => {
    const { id, authorizations } = await ask(list, { displayName: 'A voice', authorizations: [{ kind: 'contract', reference: 'page 3' }] })
    return `${id}/${authorizations[0].id}`
  }
  const withSnapshots = async () => {
    const id = part(await withSource(), 0)
    const first = (await ask(`${at(id)}/style`, {})).id
    await world().ask('owner', 'PUT', at(id), { writingStyle: { tone: 'warm' } })
    return `${id}/${first}/${(await ask(`${at(id)}/style`, {})).id}`
  }
  return {
    [`PUT ${list}/:id`]: {
      path: at,
      make: aProfile,
      body: () => ({ personaRules: ['Never promises a date.'] }),
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, version: 2, personaRules: ['Never promises a date.'], writingStyle: { tone: 'dry' } } }),
    },
    [`POST ${list}/:id/preview`]: {
      path: id => `${at(id)}/preview`,
      make: withSource,
      body: () => ({ product: 'publishing', brief: 'The next step', mode: 'extractive' }),
      forbidden: 'reader',
      answers: id => ({
        status: 200,
        json: { mode: 'extractive', citations: [{ sourceId: part(id, 1), start: 0, end: 24, quote: 'One step, then the next.' }] },
      }),
    },
    [`POST ${list}/:id/authorizations`]: {
      path: id => `${at(id)}/authorizations`,
      make: async () => (await ask(list, { displayName: 'A voice' })).id,
      body: () => ({ kind: 'employment', reference: 'Contract of 2027' }),
      forbidden: 'reader',
      answers: id => ({ status: 201, json: { id, authorizations: [expect.any(Object)] } }),
    },
    [`DELETE ${list}/:id/authorizations/:authorizationId`]: {
      path: id => `${at(id)}/authorizations/${part(id, 1)}`,
      make: withAuthorization,
      forbidden: 'reader',
      answers: () => ({ status: 204 }),
    },
    [`DELETE ${list}/:id/sources/:sourceId`]: {
      path: id => `${at(id)}/sources/${part(id, 1)}`,
      make: withSource,
      forbidden: 'reader',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`GET ${list}/:id/style/changes`]: {
      path: id => `${at(id)}/style/changes?from=${part(id, 1)}&to=${part(id, 2)}`,
      make: withSnapshots,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { changes: [{ field: 'writingStyle.tone', from: 'dry', to: 'warm' }] } }),
    },
    [`DELETE ${list}/:id`]: { path: at, make: aProfile, forbidden: 'reader', once: true, answers: () => ({ status: 204 }) },
  }
}
