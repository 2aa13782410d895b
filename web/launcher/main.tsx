import words from 'words:launcher'
import { createCookieSession } from '../shell/session/cookie.ts'
import { start } from '../shell/start.tsx'
import { launcher } from './pages.ts'

void start({
  pages: launcher,
  words,
  session: createCookieSession(),
  modules: {
    dashboard: () => import('./dashboard/dashboard.tsx'),
    apps: () => import('./apps/apps.tsx'),
    actions: () => import('./actions/actions.tsx'),
    inbox: () => import('./actions/inbox.tsx'),
    design: () => import('./design/gallery.tsx'),
    settings: () => import('./settings/person.tsx'),
    organization: () => import('./settings/organization.tsx'),
    members: () => import('./settings/members.tsx'),
    sessions: () => import('./settings/sessions.tsx'),
    keys: () => import('./settings/keys.tsx'),
    households: () => import('./settings/households/households.tsx'),
    billing: () => import('./settings/billing/billing.tsx'),
    notifications: () => import('./settings/notifications/notifications.tsx'),
    onboarding: () => import('./onboarding/onboarding.tsx'),
  },
})
