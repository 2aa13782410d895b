import words from 'words:providers'
import { createTabSession } from '../shell/session/tab.ts'
import { start } from '../shell/start.tsx'
import { providers } from './pages.ts'

void start({
  pages: providers,
  words,
  session: createTabSession(),
  modules: {
    overview: () => import('./overview/overview.tsx'),
    credentials: () => import('./credentials/credentials.tsx'),
    usage: () => import('./usage/usage.tsx'),
    limits: () => import('./limits/limits.tsx'),
    models: () => import('./models/models.tsx'),
    calls: () => import('./calls/calls.tsx'),
    senders: () => import('./senders/senders.tsx'),
    video: () => import('./video/video.tsx'),
    apps: () => import('./apps/apps.tsx'),
    clients: () => import('./clients/clients.tsx'),
    audit: () => import('./audit/audit.tsx'),
  },
})
