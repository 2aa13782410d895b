import type { Registration } from '../subgraph.ts'

/** How agents presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'agents',
  appId: 'app_agents',
  title: 'Agents',
  contexts: ['organization'],
  icon: '/icons/agents.svg',
  asks: ['providers:ai.invoke', 'publishing:posts.write'],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}
