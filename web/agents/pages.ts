import type { AppPages } from '../shell/pages.ts'

/** The pages of agents. */
export const agents: AppPages = {
  app: 'agents',
  title: 'app.agents',
  entry: 'agents/main.tsx',
  start: '/overview',
  guarded: false,
  embed: '/embed/chat.js',
  pages: {
    overview: { paths: ['/overview'], module: 'agents/overview/overview.tsx', title: 'overview.title', icon: 'dashboard', skeleton: 'grid' },
    approvals: {
      paths: ['/approvals', '/approvals/:id'],
      module: 'agents/approvals/approvals.tsx',
      title: 'approvals.title',
      icon: 'approvals',
      skeleton: 'table',
    },
    tasks: { paths: ['/tasks', '/tasks/:id'], module: 'agents/tasks/tasks.tsx', title: 'tasks.title', icon: 'actions', skeleton: 'table' },
    workflows: {
      paths: ['/workflows', '/workflows/:id'],
      module: 'agents/workflows/workflows.tsx',
      title: 'workflows.title',
      icon: 'workflows',
      skeleton: 'table',
    },
    runs: { paths: ['/runs', '/runs/:id'], module: 'agents/runs/runs.tsx', title: 'runs.title', icon: 'runs', skeleton: 'table' },
    agents: { paths: ['/agents', '/agents/:id'], module: 'agents/agents/agents.tsx', title: 'agents.title', icon: 'agents', skeleton: 'table' },
    conversations: {
      paths: ['/conversations', '/conversations/:id'],
      module: 'agents/conversations/conversations.tsx',
      title: 'conversations.title',
      icon: 'conversations',
      skeleton: 'table',
    },
    connectors: {
      paths: ['/connectors', '/connectors/:id'],
      module: 'agents/connectors/connectors.tsx',
      title: 'connectors.title',
      icon: 'integrations',
      skeleton: 'table',
    },
    operate: { paths: ['/operate'], module: 'agents/connectors/operate/operate.tsx', title: 'operate.title', icon: 'calls', skeleton: 'form' },
    knowledge: {
      paths: ['/knowledge', '/knowledge/:id'],
      module: 'agents/knowledge/knowledge.tsx',
      title: 'knowledge.title',
      icon: 'ledger',
      skeleton: 'table',
    },
    memory: { paths: ['/memory'], module: 'agents/memory/memory.tsx', title: 'memory.title', icon: 'memory', skeleton: 'table' },
    chat: { paths: ['/chat-site', '/chat-site/:id'], module: 'agents/chat/chat.tsx', title: 'chat.title', icon: 'chat', skeleton: 'table' },
    reports: { paths: ['/reports', '/reports/:id'], module: 'agents/reports/reports.tsx', title: 'reports.title', icon: 'invoices', skeleton: 'table' },
    feed: { paths: ['/feed'], module: 'agents/reports/feed/feed.tsx', title: 'feed.title', icon: 'feed', skeleton: 'table' },
    profiles: { paths: ['/profiles', '/profiles/:id'], module: 'agents/profiles/profiles.tsx', title: 'profiles.title', icon: 'profiles', skeleton: 'table' },
  },
}
