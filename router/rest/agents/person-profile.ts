import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'
import { styles } from './styles.ts'

const exportRow: Row = {
  kind: 'forward',
  method: 'GET',
  path: '/api/person-profiles/:id/export',
  access: { policy: 'person' },
  limit: 0,
  to: 'agents',
  why: 'own answer',
  describes: [
    {
      name: 'exportPersonProfile',
      does: 'Returns everything that a person profile holds as one document: `profile`, `sources` with their texts, newest first, and `snapshots`.',
      params: { id: 'The profile.' },
      refuses: [403, 404],
      answers: { 200: { description: 'The document, as an attachment.', schema: { type: 'object', additionalProperties: true } } },
    },
  ],
}

const operations = nounRoutes({
  select: {
    ...styles,
    PersonProfile: {
      // A snapshot becomes the active one without a change of the profile itself.
      changing: ['activeSnapshotId'],
      fields: `
        id displayName status writingStyle speakingStyle personaRules
        usagePolicies { product purpose allowed expiresAt }
        authorizations { id kind reference grantedBy grantedAt expiresAt revokedAt }
        voiceProfiles { provider externalId label } version createdAt updatedAt
        subjectId: subject { id } organizationId: organization { id } activeSnapshotId: activeSnapshot { id }`,
    },
  },
  routes: {
    'GET /api/person-profiles': 'personProfiles',
    'POST /api/person-profiles': 'createPersonProfile',
    'GET /api/person-profiles/:id': 'personProfile',
    'PUT /api/person-profiles/:id': 'updatePersonProfile',
    'DELETE /api/person-profiles/:id': 'erasePersonProfile',
    'POST /api/person-profiles/:id/preview': {
      run: 'previewPersonProfile',
      select: 'text mode notice snapshotId: snapshot { id } citations { sourceId: source { id } start end quote }',
      status: 200,
    },
    'POST /api/person-profiles/:id/authorizations': { run: 'addProfileAuthorization', names: { personProfileId: 'id' }, status: 201, location: null },
    'DELETE /api/person-profiles/:id/authorizations/:authorizationId': {
      run: 'revokeProfileAuthorization',
      names: { personProfileId: 'id', id: 'authorizationId' },
    },
  },
})

export const personProfileRows: readonly Row[] = [...operations, exportRow]
