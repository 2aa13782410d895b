import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

const operations = nounRoutes({
  select: {
    Credential: `
      id provider family level organizationId: organization { id } name fields { name value masked } baseUrl status testedAt testMessage
      lastUsedAt rotatedAt graceEndsAt createdAt version`,
  },
  routes: {
    'GET /api/credentials': 'credentials',
    'POST /api/credentials': 'createCredential',
    'GET /api/credentials/:id': 'credential',
    'PUT /api/credentials/:id': 'updateCredential',
    'POST /api/credentials/:id/rotate': 'rotateCredential',
    'POST /api/credentials/:id/test': 'testCredential',
    'DELETE /api/credentials/:id': 'deleteCredential',
  },
})

export const credentialRows: readonly Row[] = [
  ...operations,
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/internal/network-applications/:platform',
    access: { scope: 'providers:service.invoke' },
    limit: 0,
    to: 'providers',
    why: 'own answer',
    describes: { nothing: 'It returns a secret to one service of the platform; no other client may use it.' },
  },
]
