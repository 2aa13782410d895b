import { nounRoutes } from '../../derive/route.ts'

export const dashboardRows = nounRoutes({
  select: { PublishingDashboard: 'scheduledToday failed publishedThisWeek awaitingApproval unknown attentionIds nextIds' },
  routes: { 'GET /api/dashboard': { run: 'publishingDashboard', name: 'dashboard' } },
})
