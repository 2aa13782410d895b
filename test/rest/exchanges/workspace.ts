import { expect } from 'vitest'
import type { Exchange, Exchanges } from './exchange.ts'

const api = '/launcher/api'
const households = `${api}/households`

/** The dashboard's workspace and onboarding. */
const places: Exchanges = world => ({
  [`GET ${api}/widget`]: { path: () => `${api}/widget`, forbidden: 'reader', answers: () => ({ status: 200, json: { statistics: expect.any(Array) } }) },
  [`GET ${api}/workspace`]: { path: () => `${api}/workspace`, forbidden: 'reader', answers: () => ({ status: 200, json: { context: 'organization' } }) },
  [`GET ${api}/onboarding`]: { path: () => `${api}/onboarding`, forbidden: 'reader', answers: () => ({ status: 200, json: { next: '/onboarding' } }) },
  [`POST ${api}/onboarding/complete`]: {
    path: () => `${api}/onboarding/complete`,
    body: () => ({ serviceId: world().dashboardServiceId, apps: ['shift-planner'], teamSize: 12, useCase: 'Rotas of a bakery' }),
    forbidden: 'viewer',
    answers: () => ({ status: 200, json: { state: 'done', next: '/dashboard' } }),
  },
  [`PUT ${api}/workspace/household`]: {
    path: () => `${api}/workspace/household`,
    ...{ body: () => ({ id: null }), forbidden: 'reader', by: 'alone' },
    answers: () => ({ status: 200, json: { context: 'personal', selectedHouseholdId: null } }),
  },
})

/** Households: of two people without an organization. */
export const workspace: Exchanges = world => {
  const made = async (who: 'alone' | 'partner', path: string, body: object = {}) => (await world().ask(who, 'POST', path, body)).json.id as string
  const found = (who: 'alone' | 'partner', name: string) => made(who, households, { name })
  const other = { alone: 'partner', partner: 'alone' } as const
  const invited = (who: 'alone' | 'partner', id: string) => made(who, `${households}/${id}/invitations`, { email: `${other[who]}@test.test`, role: 'adult' })
  const shared = async () => {
    const id = await found('alone', 'Garden house')
    await made('partner', `${households}/invitations/${await invited('alone', id)}/acceptance`)
    return id
  }
  let first: Promise<string> | undefined
  const home = () => (first ??= shared())
  let second: Promise<string> | undefined
  const lakeHouse = () => (second ??= found('partner', 'Lake house'))
  const guest = async () => invited('partner', await lakeHouse())
  const own = { forbidden: 'reader', by: 'alone' } as const
  const at: Readonly<Record<string, Omit<Exchange, 'forbidden' | 'by'>>> = {
    [`GET ${households}`]: { path: () => households, answers: () => ({ status: 200, json: { households: expect.any(Array) } }) },
    [`POST ${households}`]: {
      path: () => households,
      body: () => ({ name: 'Summer house' }),
      answers: () => ({ status: 201, json: { name: 'Summer house' } }),
    },
    [`GET ${households}/:id`]: { make: home, path: id => `${households}/${id}`, answers: id => ({ status: 200, json: { id, members: expect.any(Array) } }) },
    [`PUT ${households}/:id`]: {
      make: home,
      path: id => `${households}/${id}`,
      body: () => ({ name: 'Winter house' }),
      answers: id => ({ status: 200, json: { id, name: 'Winter house' } }),
    },
    [`DELETE ${households}/:id`]: { make: () => found('alone', 'Old house'), path: id => `${households}/${id}`, answers: () => ({ status: 204 }) },
    [`POST ${households}/:householdId/invitations`]: {
      make: home,
      path: id => `${households}/${id}/invitations`,
      body: () => ({ email: 'guest@example.com', role: 'child' }),
      answers: () => ({ status: 201, json: { email: 'guest@example.com', role: 'child', status: 'pending' } }),
    },
    [`PUT ${households}/:householdId/members/:userId`]: {
      make: home,
      path: id => `${households}/${id}/members/${world().partnerId}`,
      body: () => ({ role: 'child' }),
      answers: id => ({ status: 200, json: { id } }),
    },
    [`DELETE ${households}/:householdId/members/:userId`]: {
      make: shared,
      path: id => `${households}/${id}/members/${world().partnerId}`,
      answers: () => ({ status: 204 }),
    },
    [`GET ${households}/invitations`]: { path: () => `${households}/invitations`, answers: () => ({ status: 200, json: { invitations: expect.any(Array) } }) },
    [`POST ${households}/invitations/:id/decline`]: {
      make: guest,
      path: id => `${households}/invitations/${id}/decline`,
      answers: id => ({ status: 200, json: { id, status: 'declined' } }),
    },
    [`POST ${households}/invitations/:id/withdrawal`]: {
      make: async () => made('alone', `${households}/${await home()}/invitations`, { email: 'neighbour@example.com', role: 'child' }),
      path: id => `${households}/invitations/${id}/withdrawal`,
      answers: id => ({ status: 200, json: { id, status: 'withdrawn' } }),
    },
    [`POST ${households}/invitations/:id/acceptance`]: {
      make: guest,
      path: id => `${households}/invitations/${id}/acceptance`,
      answers: id => ({ status: 200, json: { id, status: 'accepted' } }),
    },
  }
  return { ...places(world), ...Object.fromEntries(Object.entries(at).map(([name, exchange]) => [name, { ...exchange, ...own }])) }
}
