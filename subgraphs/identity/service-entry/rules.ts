import { isScope, meaningOf, type Scope, scopes } from '../../scopes.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import type { Registration } from '../../subgraph.ts'
import type { ServiceAddress, ServiceEntryRow } from '../stores/service-entry.ts'

/** Owner of the entries of services that register at start. */
export const platformOwner = 'platform'

/** Topic of changes of the registry's entries. */
export const registryTopic = 'registry'

/** Returns the fact about a new or changed entry. */
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

/** Addresses of a service by audience, e.g. `{ rest: 'https://publishing.example' }`. */
export type Addresses = Readonly<Record<string, string>>

/**
 * Returns the addresses of a service: of its own entry, then those in production.
 * @param production those of production, as a fallback
 */
export const addressesOf = ({ addresses, environment }: Pick<EntryContent, 'addresses' | 'environment'>, production: readonly ServiceAddress[]) => [
  ...Object.entries(addresses).map(([role, url]): ServiceAddress => ({ role, url, environment })),
  ...production,
]

/** Content of an entry, without its id and stamps. */
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

/** Builds the entry of a registration. */
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

/** Omits the callback of a service that nobody opens, so that no sign-in leads there. */
function addressesFor(kind: Registration['kind'], { callback, ...others }: Addresses): Addresses {
  return kind === 'application' && callback !== undefined ? { ...others, callback } : others
}

/** Returns what is wrong with a registration, in a sentence; null for a valid one. */
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

/** Maximum number of mobile apps of a service, and of certificates of one. */
export const most = { mobileApps: 4, fingerprints: 4 }

const fingerprint = /^[\dA-F]{2}(?::[\dA-F]{2}){31}$/

const isPlace = (icon: string): boolean => /^\/[^/\s]\S*$/.test(icon) || /^https?:$/.test(URL.parse(icon)?.protocol ?? '')

/**
 * Returns why an entry must not replace an existing one, in a sentence; null when it may.
 * @param bySlug  the entry with the same slug
 * @param byAppId the entry with the same app id
 */
export function conflictOf(entry: Pick<EntryContent, 'slug' | 'appId'>, bySlug: EntryContent | null, byAppId: EntryContent | null): string | null {
  if (bySlug && bySlug.owner !== platformOwner) return `slug "${entry.slug}" is held by an entry of owner ${bySlug.owner}`
  if (bySlug && bySlug.appId !== entry.appId) return `slug "${entry.slug}" is held by app id "${bySlug.appId}"`
  if (byAppId && byAppId.slug !== entry.slug) return `app id "${entry.appId}" is held by slug "${byAppId.slug}"`
  return null
}
