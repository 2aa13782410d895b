import { nounRoutes } from '../derive/route.ts'
import { styles } from './styles.ts'

export const personProfileRows = nounRoutes({
  select: {
    ...styles,
    PersonProfile: `
      id displayName status writingStyle speakingStyle personaRules
      usagePolicies { product purpose allowed expiresAt }
      authorizations { id kind reference grantedBy grantedAt expiresAt revokedAt }
      voiceProfiles { provider externalId label } version createdAt updatedAt
      subjectId: subject { id } organizationId: organization { id } activeSnapshotId: activeSnapshot { id }`,
  },
  routes: {
    'GET /api/person-profiles': 'personProfiles',
    'POST /api/person-profiles': 'createPersonProfile',
    'GET /api/person-profiles/:id': 'personProfile',
  },
})
