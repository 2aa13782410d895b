import { seedSession } from '../../subgraphs/agents/chat/seed.ts'
import { type Exchanges, list, made } from './exchange.ts'

/** Agents, and the sessions that visitors had with them. */
export const chat: Exchanges = world => {
  const agents = '/agents/api/agents'
  const sessions = '/agents/api/chat-sessions'
  const agent = (id: string) => `${agents}/${id}`
  const desk = { name: 'Desk', instructions: 'Answer briefly.' }
  const anAgent = async () => (await world().ask('owner', 'POST', agents, desk)).json.id as string
  const aSession = () => seedSession(world().graph, world().owner.organizationId!)
  return {
    [`POST ${agents}`]: { path: () => agents, body: () => desk, forbidden: 'viewer', answers: made(agents) },
    [`GET ${agents}`]: { path: () => agents, forbidden: 'reader', answers: list('agents') },
    [`GET ${agents}/:id`]: {
      path: agent,
      make: anAgent,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, name: 'Desk', status: 'active' } }),
    },
    [`PUT ${agents}/:id`]: {
      path: agent,
      make: anAgent,
      body: () => ({ description: 'Answers at the desk.' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, description: 'Answers at the desk.', version: 2 } }),
    },
    [`DELETE ${agents}/:id`]: { path: agent, make: anAgent, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }) },
    [`GET ${sessions}/:id`]: {
      path: id => `${sessions}/${id}`,
      make: aSession,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, persona: 'guide' } }),
    },
    [`GET ${sessions}`]: { path: () => sessions, forbidden: 'viewer', answers: () => ({ status: 200 }) },
  }
}
