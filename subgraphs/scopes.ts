/**
 * The catalogue of scopes: the one source that SDL, API keys, roles, registration and documentation share. A scope is one
 * exact name in one service: no wildcard, no resource part. Names recur between services, so every check carries the
 * slug: `publishing:dashboard.read` is not `payments:dashboard.read`.
 */
export const scopes = {
  publishing: {
    'accounts.read': 'See brands, integrations and connected social accounts',
    'accounts.write': 'Connect social accounts and manage them',
    'analytics.read': 'See how posts and brands perform',
    'api_keys.write': 'Manage the machine credentials of publishing',
    'calendar.read': 'See the content calendar',
    'calendar.write': 'Move entries of the content calendar',
    'dashboard.read': 'See the dashboard and the live widget',
    'posts.read': 'See drafts, scheduled, published and failed posts',
    'posts.write': 'Write, schedule, revert and delete posts',
  },
  agents: {
    'agents.read': 'See agents and how they are set up',
    'agents.write': 'Create agents and change their definition',
    'approvals.write': 'Approve or reject an action that waits',
    'knowledge.read': 'See sources, indexed documents and person profiles',
    'knowledge.write': 'Manage sources, indexed documents and person profiles',
    'reports.read': 'See reports, artifacts and the work feed',
    'runs.invoke': 'Start agent runs and read what they produced',
    'workflows.read': 'See workflow plans and their runs',
    'workflows.write': 'Create workflow plans and start them',
    'workspace.read': 'See the operating workspace',
    'workspace.write': 'Change workspace state and what the organization remembers',
  },
  payments: {
    'analytics.read': 'See payment analytics',
    'audit.read': 'See the payment audit log',
    'customers.read': 'See payment profiles of customers',
    'customers.write': 'Manage payment methods of customers',
    'dashboard.read': 'See the dashboard and operational summaries',
    'invoices.read': 'See invoices and billing',
    'invoices.write': 'Create invoices and manage them',
    'merchants.read': 'See merchants and their configuration',
    'merchants.write': 'Manage merchants and their configuration',
    'payments.create': 'Open a payment or checkout session',
    'payments.read': 'See the state of payments and charges',
    'reports.read': 'See payment reports',
    'settings.read': 'See the settings of payments',
    'settings.write': 'Change how payments are processed',
    'settlements.write': 'Submit settlement batches between peers',
    'transactions.read': 'See transactions',
    'transactions.refund': 'Refund a transaction',
    'transactions.write': 'Take payments and process them',
    'venues.read': 'See venues and their configuration',
    'venues.write': 'Manage venues and their configuration',
  },
  launcher: {
    'api_keys.write': 'Manage the machine credentials of the launcher',
    'apps.read': 'See the app catalogue',
    'apps.write': 'Install and remove apps',
    'dashboard.read': 'See the dashboard',
    'entitlements.read': 'See what the organization may use',
    'launcher.read': 'See the launcher and its context',
    'launches.read': 'See which apps were launched',
    'notifications.read': 'See notifications',
    'notifications.write': 'Mark notifications and change preferences',
    'settings.read': 'See the settings of a person or an organization',
    'settings.write': 'Change the settings of a person or an organization',
    'widgets.read': 'See live widgets',
    'workflows.read': 'See saved sequences of launches and actions',
    'workflows.write': 'Save sequences of launches and actions',
  },
  providers: {
    'ai.invoke': 'Call AI models through the gateway',
    'apps.read': 'See the apps that are known to the gateway',
    'limits.manage': 'Set spend limits',
    'org.admin': 'Administer an organization at the gateway',
    'organizations.provision': 'Provision organizations at the gateway',
    'provider_credentials.manage': 'Manage credentials of providers',
    'service.invoke': 'Call the typed services of the gateway',
    'usage.read': 'See usage and cost',
  },
  identity: {},
} as const

export type Slug = keyof typeof scopes

export const slugs = Object.keys(scopes) as Slug[]

/** A scope with its service: `publishing:posts.read`. */
export type Scope = { [S in Slug]: `${S}:${string & keyof (typeof scopes)[S]}` }[Slug]

/** Every scope there is, sorted. */
export const everyScope: readonly Scope[] = slugs.flatMap(slug => Object.keys(scopes[slug]).map(name => `${slug}:${name}` as Scope)).sort()

const known = new Set<string>(everyScope)

export const isScope = (name: string): name is Scope => known.has(name)

/** What a scope allows, in a sentence for people. */
export function meaningOf(scope: Scope): string {
  const [slug, name] = scope.split(':') as [Slug, string]
  return (scopes[slug] as Record<string, string>)[name]!
}

const readsOnly = everyScope.filter(scope => scope.endsWith('.read'))
const memberWrites: readonly Scope[] = [
  'agents:runs.invoke',
  'payments:payments.create',
  'providers:ai.invoke',
  'publishing:calendar.write',
  'publishing:posts.write',
]

/** Roles within an organization, and the scopes that each brings. A platform role brings no scope: `@policy` asks for it. */
const scopesOfRole: Readonly<Record<string, readonly Scope[]>> = {
  owner: everyScope,
  admin: everyScope,
  member: [...readsOnly, ...memberWrites].sort(),
  viewer: readsOnly,
  platform_admin: [],
  platform_super_admin: everyScope,
}

/**
 * What a service client of the gateway may have done for it there, and the scope that each takes. Whoever comes with a service's token reaches
 * the operations of its client at the gateway, and nothing else of it.
 */
export const serviceOperations = {
  COMPLETIONS: 'providers:ai.invoke',
  TRANSCRIPTIONS: 'providers:ai.invoke',
  IMAGES: 'providers:ai.invoke',
  EMBEDDINGS: 'providers:ai.invoke',
  EMAIL: 'providers:service.invoke',
  PAYMENTS: 'providers:service.invoke',
  TRANSFERS: 'providers:service.invoke',
  VIDEO: 'providers:service.invoke',
  NETWORK_APPLICATIONS: 'providers:service.invoke',
} as const satisfies Readonly<Record<string, Scope>>

export type ServiceOperation = keyof typeof serviceOperations

/** Operations that move money, spend a quota or hand out a secret: each with the apps whose clients may have it. No token that several apps share opens one. */
export const reservedOperations: Readonly<Partial<Record<ServiceOperation, readonly string[]>>> = {
  PAYMENTS: ['app_payments', 'app_launcher'],
  TRANSFERS: ['app_payments'],
  VIDEO: ['app_publishing'],
  NETWORK_APPLICATIONS: ['app_publishing'],
}

/** The scopes that operations stand for, sorted, each once. */
export const scopesOfOperations = (operations: readonly ServiceOperation[]): readonly Scope[] =>
  [...new Set(operations.map(operation => serviceOperations[operation]))].sort()

const union = (roles: readonly string[]): readonly Scope[] => [...new Set(roles.flatMap(role => scopesOfRole[role] ?? []))].sort()

/** Scopes of each role alone: nearly everybody has one role, and open streams are checked every second. */
const ofOneRole: ReadonlyMap<string, readonly Scope[]> = new Map(Object.keys(scopesOfRole).map(role => [role, union([role])]))

/** The scopes that several roles give together, sorted, each once. */
export function scopesOf(roles: readonly string[]): readonly Scope[] {
  return (roles.length === 1 && ofOneRole.get(roles[0]!)) || union(roles)
}

/** Applications that people use without an organization too, as their registrations say. */
export const personalApplications: readonly Slug[] = ['launcher']

/** What a person may do in personal context, where nobody has roles. */
export const personalScopes: readonly Scope[] = everyScope.filter(
  scope => personalApplications.some(slug => scope.startsWith(`${slug}:`)) && !scope.endsWith(':api_keys.write'),
)

/**
 * Scopes that a service token never grants: a service has them only for a person known to the router.
 * A name beside a token is a claim, and nobody administers an organization by one.
 */
export const neverByToken: ReadonlySet<string> = new Set(['providers:org.admin'])

/** A scope in the form that services call a permission: `posts:read`. */
export const permissionOf = (scope: Scope): string => scope.slice(scope.indexOf(':') + 1).replaceAll('.', ':')
