import { isScope, meaningOf, type Scope, scopes } from '../../scopes.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import type { Registration } from '../../subgraph.ts'
import type { ServiceAddress, ServiceEntryRow } from '../stores/service-entry.ts'

/** Who keeps the entries of services that register at start. */
export const platformOwner = 'platform'

/** The topic on which it is told that an entry of the registry has changed. */
export const registryTopic = 'registry'

/** What other services are told of an entry that is new or has changed. */
export const isRegistered = ({
  id,
  slug,
  appId,
  title,
  environment,
  lifecycle,
}: Pick<ServiceEntryRow, 'id' | 'slug' | 'appId' | 'title' | 'environment' | 'lifecycle'>): NewFact => ({
  kind: 'service.registered',
  body: { serviceId: id, slug, appId, title, environment, lifecycle },
})

/** Addresses of a service by role, e.g. `{ rest: 'https://publishing.example' }`. */
export type Addresses = Readonly<Record<string, string>>

/**
 * Where a service is found: by its own entry, and then where it is found in production.
 * @param production those of production, where they follow
 */
export const addressesOf = ({ addresses, environment }: Pick<EntryContent, 'addresses' | 'environment'>, production: readonly ServiceAddress[]) => [
  ...Object.entries(addresses).map(([role, url]): ServiceAddress => ({ role, url, environment })),
  ...production,
]

/** What an entry says, apart from its id and its stamps. */
export type EntryContent = Pick<
  ServiceEntryRow,
  | 'environment'
  | 'slug'
  | 'appId'
  | 'title'
  | 'contexts'
  | 'icon'
  | 'scopes'
  | 'asks'
  | 'widgetAudience'
  | 'lifecycle'
  | 'kind'
  | 'capabilities'
  | 'mobileApps'
  | 'addresses'
  | 'owner'
>

/** What stands in the registry of a service that presents itself so. */
export function entryOf(registration: Registration, addresses: Addresses, environment: string): EntryContent {
  const catalogue = Object.keys(scopes[registration.slug])
  return {
    environment,
    slug: registration.slug,
    appId: registration.appId,
    title: registration.title,
    contexts: [...registration.contexts],
    icon: registration.icon,
    scopes: catalogue.map(name => ({ name, meaning: meaningOf(`${registration.slug}:${name}` as Scope) })),
    asks: [...registration.asks],
    widgetAudience: registration.widget?.audience ?? null,
    lifecycle: registration.lifecycle,
    kind: registration.kind,
    capabilities: [...registration.capabilities],
    mobileApps: [...registration.mobileApps],
    addresses: addressesFor(registration.kind, addresses),
    owner: platformOwner,
  }
}

/** Nobody is sent on with a sign-in to a service that nobody opens. */
function addressesFor(kind: Registration['kind'], { callback, ...others }: Addresses): Addresses {
  return kind === 'application' && callback !== undefined ? { ...others, callback } : others
}

/** What is wrong with a registration, in a sentence; null when nothing is. */
export function mistakeIn({ slug, appId, title, contexts, icon, asks, mobileApps }: Registration, addresses: Addresses): string | null {
  if (!Object.hasOwn(scopes, slug)) return `slug "${slug}" is not in the catalogue of scopes`
  if (appId !== `app_${slug}`) return `app id "${appId}" does not belong to slug "${slug}": it must be app_${slug}`
  if (title.trim() === '' || title.length > 80) return 'its title takes 1 to 80 characters'
  if (contexts.length === 0) return 'it names no context in which it can be used'
  if (!isPlace(icon)) return `its icon "${icon}" is neither a path nor an address`
  const stranger = asks.find(scope => !isScope(scope))
  if (stranger !== undefined) return `it asks for ${stranger}, which is not in the catalogue of scopes`
  if (mobileApps.length > most.mobileApps) return `it has more than ${most.mobileApps} apps for phones`
  const unsigned = mobileApps.find(
    ({ appId, certificateFingerprints: list }) => appId === '' || list.length > most.fingerprints || !list.every(each => fingerprint.test(each)),
  )
  if (unsigned) return `its app "${unsigned.appId}" lacks a name, or a certificate of it is no SHA-256 in hexadecimal pairs with colons between`
  const nowhere = Object.entries(addresses).find(([, address]) => !URL.canParse(address))
  return nowhere ? `its address for ${nowhere[0]} is not an absolute address` : null
}

/** How many apps for phones a service may have, and certificates one of them. */
export const most = { mobileApps: 10, fingerprints: 10 }

const fingerprint = /^[\dA-F]{2}(?::[\dA-F]{2}){31}$/

const isPlace = (icon: string): boolean => /^\/[^/\s]\S*$/.test(icon) || /^https?:$/.test(URL.parse(icon)?.protocol ?? '')

/**
 * Why an entry may not be written over what is there, in a sentence; null when it may.
 * @param bySlug  the entry that has its slug already
 * @param byAppId the entry that has its app id already
 */
export function conflictOf(entry: Pick<EntryContent, 'slug' | 'appId'>, bySlug: EntryContent | null, byAppId: EntryContent | null): string | null {
  if (bySlug && bySlug.owner !== platformOwner) return `slug "${entry.slug}" is held by an entry of owner ${bySlug.owner}`
  if (bySlug && bySlug.appId !== entry.appId) return `slug "${entry.slug}" is held by app id "${bySlug.appId}"`
  if (byAppId && byAppId.slug !== entry.slug) return `app id "${entry.appId}" is held by slug "${byAppId.slug}"`
  return null
}
