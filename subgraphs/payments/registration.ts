import type { Registration } from '../subgraph.ts'

/** How payments presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'payments',
  appId: 'app_payments',
  title: 'Payments',
  contexts: ['organization'],
  icon: '/icons/payments.svg',
  asks: ['providers:service.invoke'],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
  grants: { app_settlement: ['payments:settlements.write'] },
}
