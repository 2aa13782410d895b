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
    media: { paths: ['/media'], module: 'publishing/media/media.tsx', title: 'media.title', icon: 'media', skeleton: 'grid' },
    analytics: { paths: ['/analytics'], module: 'publishing/analytics/analytics.tsx', title: 'analytics.title', icon: 'analytics', skeleton: 'table' },
    integrations: {
      paths: ['/integrations'],
      module: 'publishing/integrations/integrations.tsx',
      title: 'integrations.title',
      icon: 'integrations',
      skeleton: 'grid',
    },
  },
}
