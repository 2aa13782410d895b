import type { Registration } from '../subgraph.ts'

/** How launcher presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'launcher',
  appId: 'app_launcher',
  title: 'Launcher',
  contexts: ['personal', 'organization'],
  icon: '/icons/launcher.svg',
  asks: ['publishing:dashboard.read', 'agents:workspace.read', 'payments:dashboard.read', 'providers:service.invoke', 'providers:usage.read'],
  widget: null,
  lifecycle: 'active',
  kind: 'application',
  capabilities: ['household_capable'],
  mobileApps: [],
}
