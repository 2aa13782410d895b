import { nounRoutes } from '../../derive/route.ts'

export const activityRows = nounRoutes({
  select: { BrandActivity: 'id at kind userId postId connectionId' },
  routes: { 'GET /api/activity': { run: 'brandActivities', name: 'activity' } },
})
