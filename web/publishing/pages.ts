import type { AppPages } from '../shell/pages.ts'

/** The pages of publishing. */
export const publishing: AppPages = {
  app: 'publishing',
  title: 'app.publishing',
  entry: 'publishing/main.tsx',
  start: '/dashboard',
  guarded: false,
  pages: {
    dashboard: { paths: ['/dashboard'], module: 'publishing/dashboard/dashboard.tsx', title: 'overview.title', icon: 'dashboard', skeleton: 'grid' },
    posts: { paths: ['/posts', '/posts/:id'], module: 'publishing/posts/posts.tsx', title: 'posts.title', icon: 'posts', skeleton: 'table' },
    integrations: {
      paths: ['/integrations'],
      module: 'publishing/integrations/integrations.tsx',
      title: 'integrations.title',
      icon: 'integrations',
      skeleton: 'grid',
    },
  },
}
