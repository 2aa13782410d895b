import { nounRoutes } from '../derive/route.ts'

export const agentRows = nounRoutes({
  select: {
    Agent: `
      id name description instructions model tools { connectorId: connector { id } name permission risk } status monthlyLimitMicros spentMicros
      versions { version at userId: user { id } } version createdAt updatedAt`,
  },
  routes: {
    'GET /api/agents': 'agents',
    'POST /api/agents': 'createAgent',
    'GET /api/agents/:id': 'agent',
    'PUT /api/agents/:id': 'updateAgent',
    'DELETE /api/agents/:id': 'archiveAgent',
  },
})
