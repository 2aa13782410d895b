import type { Registration } from '../subgraph.ts'

/** How providers presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'providers',
  appId: 'app_providers',
  title: 'Providers',
  contexts: ['organization'],
  icon: '/icons/providers.svg',
  asks: [],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}
