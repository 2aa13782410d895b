import { nounRoutes } from '../derive/route.ts'

export const profileSourceRows = nounRoutes({
  select: {
    ProfileSource: `
      id personProfileId: profile { id } kind title url text contentHash language status failure { code message }
      capturedById: capturedBy { id } capturedAt`,
  },
  routes: {
    'GET /api/person-profiles/:id/sources': { run: 'personProfile', name: 'profileSources', select: 'sources(first: $first, after: $after) @spread' },
    'POST /api/person-profiles/:id/sources': { run: 'createProfileSource', names: { personProfileId: 'id' } },
    'DELETE /api/person-profiles/:id/sources/:sourceId': { run: 'deleteProfileSource', names: { personProfileId: 'id', id: 'sourceId' } },
  },
})
