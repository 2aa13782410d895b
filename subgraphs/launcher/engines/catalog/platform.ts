import type { CatalogServicesQuery } from '../../ask.generated.ts'
import type { Listed } from '../../stores/catalog-entry.ts'
import { digestOf, max } from './read.ts'

type Service = NonNullable<NonNullable<CatalogServicesQuery['services']>[number]>

/** What the catalogue says of the platform's own apps beside the registry; an app that is not listed has its title only. */
const about: Readonly<Record<string, { readonly category: string; readonly summary: string; readonly description: string }>> = {
  launcher: {
    category: 'Workspace',
    summary: 'Dashboard, apps and everything that waits for you',
    description: 'Shows the live widgets of every installed app, opens apps and lists what waits for a person.',
  },
  publishing: {
    category: 'Marketing',
    summary: 'Plan and publish posts on every social network',
    description: 'Plans, approves and publishes posts of your brands on social networks, and shows how they do.',
  },
  agents: {
    category: 'Automation',
    summary: 'Agents and workflows that work for your organization',
    description: 'Runs workflows with approvals, answers from your knowledge and connects your tools.',
  },
  payments: {
    category: 'Finance',
    summary: 'Orders, invoices, refunds and settlements',
    description: 'Takes payments, writes invoices, handles disputes and keeps the ledger.',
  },
  providers: {
    category: 'Infrastructure',
    summary: 'Models, mail and payment processors with spend limits',
    description: 'Keeps credentials of providers, routes calls to models and caps what they cost.',
  },
  identity: {
    category: 'Infrastructure',
    summary: 'Accounts, organizations and keys',
    description: 'Signs people in and says what they may do.',
  },
}

const publisher = 'Supergraph'

/** Returns the catalogue's entry of a service of the registry. @param icons addresses of icons at the developer platform, by slug */
export function listedService(service: Service, icons: Readonly<Record<string, string>>): Listed {
  const { id, slug, title, kind, lifecycle, contexts, capabilities, widgetAudience, mobileApps, maintenance } = service
  const entry = {
    ...{ id, app: slug, origin: 'PLATFORM' as const, organizationId: null, title, publisher, kind, lifecycle, contexts, capabilities, widgetAudience },
    ...{ summary: null, description: null, category: null, ...about[slug] },
    ...{ iconUrl: icons[slug] ?? null, widgetUrl: null, keysUrl: null, launchUrl: null, initiateLoginUri: null, screenshots: [], release: null },
    mobileApps: mobileApps.slice(0, max.mobileApps).map(({ platform, storeUrl }) => ({ platform, storeUrl: storeUrl ?? null })),
    maintenanceUntil: maintenance ? new Date(maintenance.until) : null,
  }
  return { ...entry, digest: digestOf(entry) }
}
