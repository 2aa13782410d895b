import type { AppPages } from '../shell/pages.ts'

/** The pages of the gateway to providers. */
export const providers: AppPages = {
  app: 'providers',
  title: 'app.providers',
  entry: 'providers/main.tsx',
  start: '/overview',
  guarded: false,
  pages: {
    overview: { paths: ['/overview'], module: 'providers/overview/overview.tsx', title: 'overview.title', icon: 'dashboard', skeleton: 'grid' },
    credentials: {
      paths: ['/credentials', '/credentials/:id'],
      module: 'providers/credentials/credentials.tsx',
      title: 'credentials.title',
      icon: 'credentials',
      skeleton: 'table',
    },
    usage: { paths: ['/usage'], module: 'providers/usage/usage.tsx', title: 'usage.title', icon: 'analytics', skeleton: 'table' },
    limits: { paths: ['/limits', '/limits/:id'], module: 'providers/limits/limits.tsx', title: 'limits.title', icon: 'limits', skeleton: 'table' },
    models: { paths: ['/models'], module: 'providers/models/models.tsx', title: 'models.title', icon: 'models', skeleton: 'table' },
    calls: { paths: ['/calls', '/calls/:id'], module: 'providers/calls/calls.tsx', title: 'calls.title', icon: 'calls', skeleton: 'table' },
    senders: { paths: ['/senders'], module: 'providers/senders/senders.tsx', title: 'senders.title', icon: 'senders', skeleton: 'table' },
    video: { paths: ['/video'], module: 'providers/video/video.tsx', title: 'video.title', icon: 'video', skeleton: 'table' },
    apps: { paths: ['/apps'], module: 'providers/apps/apps.tsx', title: 'provider-apps.title', icon: 'apps', skeleton: 'table' },
    clients: {
      paths: ['/clients', '/clients/:id'],
      module: 'providers/clients/clients.tsx',
      title: 'clients.title',
      icon: 'clients',
      isForPlatform: true,
      skeleton: 'table',
    },
    audit: { paths: ['/audit'], module: 'providers/audit/audit.tsx', title: 'audit.title', icon: 'audit', skeleton: 'table' },
  },
}
