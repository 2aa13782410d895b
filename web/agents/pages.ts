import type { AppPages } from '../shell/pages.ts'

/** The pages of agents. */
export const agents: AppPages = {
  app: 'agents',
  title: 'app.agents',
  entry: 'agents/main.tsx',
  start: '/overview',
  guarded: false,
  pages: {
    overview: { paths: ['/overview'], module: 'agents/overview/overview.tsx', title: 'overview.title', icon: 'dashboard', skeleton: 'grid' },
    profiles: { paths: ['/profiles', '/profiles/:id'], module: 'agents/profiles/profiles.tsx', title: 'profiles.title', icon: 'profiles', skeleton: 'table' },
  },
}
