import type { AppPages } from '../shell/pages.ts'

/** The pages of publishing. */
export const publishing: AppPages = {
  app: 'publishing',
  title: 'app.publishing',
  entry: 'publishing/main.tsx',
  start: '/dashboard',
  guarded: false,
  installs: true,
  pages: {
    dashboard: { paths: ['/dashboard'], module: 'publishing/dashboard/dashboard.tsx', title: 'overview.title', icon: 'dashboard', skeleton: 'grid' },
    posts: { paths: ['/posts', '/posts/:id'], module: 'publishing/posts/posts.tsx', title: 'posts.title', icon: 'posts', skeleton: 'table' },
    compose: { paths: ['/compose', '/compose/:id'], module: 'publishing/compose/compose.tsx', title: 'compose.title', icon: 'compose', skeleton: 'form' },
    calendar: { paths: ['/calendar'], module: 'publishing/calendar/calendar.tsx', title: 'calendar.title', icon: 'calendar', skeleton: 'table' },
    threads: { paths: ['/threads/:id'], module: 'publishing/thread/thread.tsx', title: 'thread.title', skeleton: 'table' },
    approvals: { paths: ['/approvals'], module: 'publishing/approvals/approvals.tsx', title: 'approvals.title', icon: 'approvals', skeleton: 'table' },
    media: { paths: ['/media'], module: 'publishing/media/media.tsx', title: 'media.title', icon: 'media', skeleton: 'grid' },
    analytics: { paths: ['/analytics'], module: 'publishing/analytics/analytics.tsx', title: 'analytics.title', icon: 'analytics', skeleton: 'table' },
    integrations: {
      paths: ['/integrations'],
      module: 'publishing/integrations/integrations.tsx',
      title: 'integrations.title',
      icon: 'integrations',
      skeleton: 'grid',
    },
    campaigns: {
      paths: ['/campaigns', '/campaigns/:id'],
      module: 'publishing/campaigns/campaigns.tsx',
      title: 'campaigns.title',
      icon: 'campaigns',
      skeleton: 'table',
    },
    trends: { paths: ['/trends'], module: 'publishing/trends/trends.tsx', title: 'trends.title', icon: 'trends', skeleton: 'table' },
    images: { paths: ['/images'], module: 'publishing/media/images/images.tsx', title: 'images.title', icon: 'images', skeleton: 'grid' },
    brands: { paths: ['/brands', '/brands/:id'], module: 'publishing/settings/brands/brands.tsx', title: 'brands.title', icon: 'brands', skeleton: 'table' },
    webhooks: { paths: ['/webhooks'], module: 'publishing/settings/webhooks/webhooks.tsx', title: 'webhooks.title', icon: 'webhooks', skeleton: 'table' },
    keys: { paths: ['/keys'], module: 'publishing/settings/keys/keys.tsx', title: 'keys.title', icon: 'keys', skeleton: 'table' },
  },
}
