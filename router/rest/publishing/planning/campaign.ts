import { nounRoutes } from '../../derive/route.ts'

export const campaignRows = nounRoutes({
  select: {
    Campaign: {
      fields: 'id brandId name description color startsOn endsOn archivedAt createdAt version counts { draft scheduled published failed }',
      // A campaign's counts change with its posts.
      changing: ['counts.draft', 'counts.scheduled', 'counts.published', 'counts.failed'],
    },
  },
  routes: {
    'GET /api/campaigns': 'campaigns',
    'POST /api/campaigns': 'createCampaign',
    'GET /api/campaigns/:id': 'campaign',
    'PUT /api/campaigns/:id': 'updateCampaign',
    'DELETE /api/campaigns/:id': 'deleteCampaign',
    'POST /api/campaigns/:id/archive': 'archiveCampaign',
    'POST /api/campaigns/:id/restore': 'restoreCampaign',
  },
})
