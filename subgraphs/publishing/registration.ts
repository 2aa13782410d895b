import type { Registration } from '../subgraph.ts'

/** How publishing presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'publishing',
  appId: 'app_publishing',
  title: 'Publishing',
  contexts: ['organization'],
  icon: '/icons/publishing.svg',
  asks: ['providers:ai.invoke', 'providers:service.invoke', 'providers:org.admin', 'agents:knowledge.read'],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}
