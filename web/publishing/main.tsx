import words from 'words:publishing'
import { createTabSession } from '../shell/session/tab.ts'
import { start } from '../shell/start.tsx'
import { BrandSwitch } from './brand/switch.tsx'
import { publishing } from './pages.ts'

void start({
  pages: publishing,
  words,
  session: createTabSession(),
  place: BrandSwitch,
  modules: {
    dashboard: () => import('./dashboard/dashboard.tsx'),
    posts: () => import('./posts/posts.tsx'),
    compose: () => import('./compose/compose.tsx'),
    calendar: () => import('./calendar/calendar.tsx'),
    media: () => import('./media/media.tsx'),
    analytics: () => import('./analytics/analytics.tsx'),
    integrations: () => import('./integrations/integrations.tsx'),
  },
})
