import type { Registration } from '../subgraph.ts'

/** Registration of identity: data only, so that other processes can read it without its code. */
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
