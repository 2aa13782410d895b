import words from 'words:agents'
import { createTabSession } from '../shell/session/tab.ts'
import { start } from '../shell/start.tsx'
import { StoppedNote } from './overview/stop.tsx'
import { agents } from './pages.ts'

void start({
  pages: agents,
  words,
  session: createTabSession(),
  notice: StoppedNote,
  modules: {
    overview: () => import('./overview/overview.tsx'),
    workflows: () => import('./workflows/workflows.tsx'),
    runs: () => import('./runs/runs.tsx'),
    approvals: () => import('./approvals/approvals.tsx'),
    tasks: () => import('./tasks/tasks.tsx'),
    agents: () => import('./agents/agents.tsx'),
    conversations: () => import('./conversations/conversations.tsx'),
    chat: () => import('./chat/chat.tsx'),
    connectors: () => import('./connectors/connectors.tsx'),
    operate: () => import('./connectors/operate/operate.tsx'),
    knowledge: () => import('./knowledge/knowledge.tsx'),
    memory: () => import('./memory/memory.tsx'),
    reports: () => import('./reports/reports.tsx'),
    feed: () => import('./reports/feed/feed.tsx'),
    profiles: () => import('./profiles/profiles.tsx'),
  },
})
