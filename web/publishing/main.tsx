import words from 'words:publishing'
import { createTabSession } from '../shell/session/tab.ts'
import { start } from '../shell/start.tsx'
import { BrandSwitch } from './brand/switch.tsx'
import { publishing } from './pages.ts'
import { FindPosts } from './posts/find.tsx'

void start({
  pages: publishing,
  words,
  session: createTabSession(),
  place: BrandSwitch,
  records: FindPosts,
  modules: {
    dashboard: () => import('./dashboard/dashboard.tsx'),
    posts: () => import('./posts/posts.tsx'),
    compose: () => import('./compose/compose.tsx'),
    calendar: () => import('./calendar/calendar.tsx'),
    threads: () => import('./thread/thread.tsx'),
    approvals: () => import('./approvals/approvals.tsx'),
    media: () => import('./media/media.tsx'),
    analytics: () => import('./analytics/analytics.tsx'),
    integrations: () => import('./integrations/integrations.tsx'),
    campaigns: () => import('./campaigns/campaigns.tsx'),
    trends: () => import('./trends/trends.tsx'),
    images: () => import('./media/images/images.tsx'),
    brands: () => import('./settings/brands/brands.tsx'),
    webhooks: () => import('./settings/webhooks/webhooks.tsx'),
    keys: () => import('./settings/keys/keys.tsx'),
  },
})
