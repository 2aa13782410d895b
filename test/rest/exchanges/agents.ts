import { expect } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { type Exchanges, list, made } from './exchange.ts'

export const agents: Exchanges = world => {
  const profiles = '/agents/api/person-profiles'
  const sources = (id: string) => `${profiles}/${id}/sources`
  const style = (id: string) => `${profiles}/${id}/style`
  const aSource = () => ({ kind: 'transcript', title: 'A talk', text: 'Said once. Said twice.' })
  const aProfile = async () => (await world().ask('owner', 'POST', profiles, { displayName: 'A voice', status: 'active' })).json.id as string
  const withSource = async () => {
    const id = await aProfile()
    await world().ask('owner', 'POST', sources(id), aSource())
    return id
  }
  const connectors = '/agents/api/connectors'
  const server = { name: 'Tools', kind: 'mcp', baseUrl: 'https://tools.example/mcp' }
  const aConnector = async () => (await world().ask('owner', 'POST', connectors, server)).json.id as string
  const oneConnector = (id: string) => `${connectors}/${id}`
  return {
    [`POST ${connectors}`]: { path: () => connectors, body: () => server, forbidden: 'viewer', answers: made(connectors) },
    [`GET ${connectors}`]: { path: () => connectors, forbidden: 'reader', answers: () => ({ status: 200, json: { connectors: expect.any(Array) } }) },
    [`GET ${connectors}/:id`]: {
      path: oneConnector,
      make: aConnector,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, kind: 'mcp', status: 'untested', tools: [] } }),
    },
    [`PUT ${connectors}/:id`]: {
      path: oneConnector,
      make: aConnector,
      body: () => ({ name: 'Other tools' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, name: 'Other tools', version: 2 } }),
    },
    [`DELETE ${connectors}/:id`]: { path: oneConnector, make: aConnector, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    // Its server is nowhere, and the check says so.
    [`POST ${connectors}/:id/check`]: {
      path: id => `${oneConnector(id)}/check`,
      make: aConnector,
      body: () => ({}),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'failing', tools: [] } }),
    },
    'GET /agents/api/mobile-apps': {
      path: () => '/agents/api/mobile-apps',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { mobileApps: expect.any(Array), totalCount: 2 } }),
    },
    'POST /agents/api/actions': {
      path: () => '/agents/api/actions',
      body: () => ({ connectorId: newId(), tool: 'create_note', arguments: { text: 'x' } }),
      forbidden: 'viewer',
      // Of no connector: one that is called needs a server.
      answers: () => ({ status: 404 }),
    },
    [`POST ${profiles}`]: {
      path: () => profiles,
      body: () => ({ displayName: 'A voice', authorizations: [{ kind: 'contract', reference: 'page 3' }] }),
      forbidden: 'reader',
      answers: made(profiles),
    },
    // Recorded after the first one exists and before others do.
    [`GET ${profiles}`]: { path: () => profiles, forbidden: 'reader', answers: list('personProfiles') },
    [`GET ${profiles}/:id`]: {
      path: id => `${profiles}/${id}`,
      make: aProfile,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, status: 'active', subjectId: expect.any(String), activeSnapshotId: null } }),
    },
    [`GET ${profiles}/:id/sources`]: { path: sources, make: withSource, forbidden: 'reader', answers: list('sources') },
    [`POST ${profiles}/:id/sources`]: {
      path: sources,
      make: aProfile,
      body: aSource,
      forbidden: 'reader',
      answers: id => ({ status: 201, json: { kind: 'transcript', status: 'ready', personProfileId: id } }),
    },
    [`GET ${profiles}/:id/style`]: {
      path: style,
      make: withSource,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { active: null, snapshots: [] } }),
    },
    [`POST ${profiles}/:id/style`]: {
      path: style,
      make: withSource,
      body: () => ({}),
      forbidden: 'reader',
      answers: id => ({ status: 201, json: { personProfileId: id, number: 1, active: true, sourceIds: [expect.any(String)], measures: { sentences: 2 } } }),
    },
    'GET /agents/api/widget': {
      path: () => '/agents/api/widget',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { statistics: expect.any(Array), nextAction: null, serviceId: expect.any(String) } }),
    },
  }
}
