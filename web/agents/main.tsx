import words from 'words:agents'
import { createTabSession } from '../shell/session/tab.ts'
import { start } from '../shell/start.tsx'
import { agents } from './pages.ts'

void start({
  pages: agents,
  words,
  session: createTabSession(),
  modules: {
    overview: () => import('./overview/overview.tsx'),
    profiles: () => import('./profiles/profiles.tsx'),
  },
})
