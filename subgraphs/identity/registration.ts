import type { Registration } from '../subgraph.ts'

/** How identity presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'identity',
  appId: 'app_identity',
  title: 'Identity',
  contexts: ['personal', 'organization'],
  icon: '/icons/identity.svg',
  asks: [],
  widget: null,
  lifecycle: 'active',
  kind: 'technical',
  capabilities: [],
  mobileApps: [],
}
