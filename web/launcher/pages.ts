import type { AppPages } from '../shell/pages.ts'

/** The pages of the launcher. */
export const launcher: AppPages = {
  app: 'launcher',
  title: 'app.launcher',
  entry: 'launcher/main.tsx',
  start: '/dashboard',
  guarded: true,
  onboarding: '/onboarding',
  installs: true,
  pages: {
    dashboard: { paths: ['/dashboard'], module: 'launcher/dashboard/dashboard.tsx', title: 'dashboard.title', icon: 'dashboard', skeleton: 'grid' },
    apps: { paths: ['/apps', '/apps/:app'], module: 'launcher/apps/apps.tsx', title: 'apps.title', icon: 'apps', skeleton: 'grid' },
    actions: { paths: ['/actions', '/actions/:id'], module: 'launcher/actions/actions.tsx', title: 'actions.title', icon: 'actions', skeleton: 'table' },
    inbox: { paths: ['/actions/notifications'], module: 'launcher/actions/inbox.tsx', title: 'inbox.title', skeleton: 'table' },
    settings: { paths: ['/settings/person', '/settings'], module: 'launcher/settings/person.tsx', title: 'settings.title', icon: 'settings', skeleton: 'form' },
    organization: { paths: ['/settings/organization'], module: 'launcher/settings/organization.tsx', title: 'settings.title', skeleton: 'form' },
    members: { paths: ['/settings/members'], module: 'launcher/settings/members.tsx', title: 'settings.title', skeleton: 'table' },
    sessions: { paths: ['/settings/sessions'], module: 'launcher/settings/sessions.tsx', title: 'settings.title', skeleton: 'table' },
    keys: { paths: ['/settings/keys'], module: 'launcher/settings/keys.tsx', title: 'settings.title', skeleton: 'table' },
    households: { paths: ['/settings/households'], module: 'launcher/settings/households/households.tsx', title: 'settings.title', skeleton: 'form' },
    billing: { paths: ['/settings/billing'], module: 'launcher/settings/billing/billing.tsx', title: 'settings.title', skeleton: 'table' },
    notifications: {
      paths: ['/settings/notifications'],
      module: 'launcher/settings/notifications/notifications.tsx',
      title: 'settings.title',
      skeleton: 'form',
    },
    onboarding: { paths: ['/onboarding'], module: 'launcher/onboarding/onboarding.tsx', title: 'onboarding.title', skeleton: 'form' },
    design: { paths: ['/design'], module: 'launcher/design/gallery.tsx', title: 'design.title', skeleton: 'grid', isForDevelopment: true },
  },
}
