import { groupsAreOff } from '../facebook/groups.ts'
import type { Platform } from '../network.ts'
import { everyNetwork } from '../networks.ts'
import type { Target, TargetKind } from '../publication.ts'

/** Health of a connection, which shows whether a person must act. */
export type ConnectionHealth = 'HEALTHY' | 'EXPIRING' | 'NEEDS_SELECTION' | 'NEEDS_RECONNECT'

/** A target of an account as stored: what the network listed, and what a person selected. */
export interface KeptPlace {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string
  readonly selected: boolean
  readonly isDefault: boolean
  /** Whether posts may be published there; `reason` states why not. */
  readonly available: boolean
  readonly reason: string | null
}

/** Kinds of places within an account, which may have several of each; all other kinds denote the account itself. */
export const placeKinds: ReadonlySet<TargetKind> = new Set(['PAGE', 'GROUP', 'ORGANIZATION'])

/** Whether posts for a network always go to a place within the account. */
export const hasPlaces = (platform: Platform): boolean => everyNetwork[platform].targets.some(kind => placeKinds.has(kind))

/** Returns the key of a place within its account, under which the place's tokens are stored. */
export const placeKey = ({ kind, externalId }: Pick<Target, 'kind' | 'externalId'>): string => `${kind}:${externalId}`

/** Maximum number of stored targets of an account; selected targets are stored first. */
export const mostPlaces = 50

/**
 * Returns the places of an account that are stored: a person's selection stays, and from a first list the first
 * available place is selected and becomes the default.
 */
export function keptPlaces(
  listed: readonly Pick<KeptPlace, 'kind' | 'externalId' | 'name' | 'available' | 'reason'>[],
  before: readonly KeptPlace[],
): readonly KeptPlace[] {
  // A closed connection is not looked up at the network: it keeps its last known state.
  const closed = before.filter(place => place.reason === groupsAreOff && !listed.some(one => placeKey(one) === placeKey(place)))
  const present = listed.map(({ kind, externalId, name, available, reason }) => {
    const known = before.find(place => placeKey(place) === placeKey({ kind, externalId }))
    return { kind, externalId, name, available, reason, selected: known?.selected ?? false, isDefault: known?.isDefault ?? false }
  })
  const kept = [...present, ...closed]
  if (kept.some(({ selected }) => selected)) return withDefault(bounded(kept))
  const first = kept.find(({ available }) => available)
  return bounded(kept.map(place => (place === first ? { ...place, selected: true, isDefault: true } : place)))
}

const bounded = (places: readonly KeptPlace[]): readonly KeptPlace[] =>
  places.length <= mostPlaces ? places : places.toSorted((a, b) => Number(b.selected) - Number(a.selected)).slice(0, mostPlaces)

/** Makes the first available selected place the default when there is no default. */
const withDefault = (places: readonly KeptPlace[]): readonly KeptPlace[] => {
  if (places.some(({ selected, isDefault }) => selected && isDefault)) return places
  const first = places.find(({ selected, available }) => selected && available)
  return places.map(place => ({ ...place, isDefault: place === first }))
}

/** How long before its expiry people are warned about an access that only a person can renew, in ms. */
export const expiringMs = 7 * 86_400_000

/** Returns the health of a connection from its stored state alone, so that all users see the same. */
export function healthOf(
  connection: { readonly active: boolean; readonly platform: Platform; readonly targets: readonly KeptPlace[]; readonly reconnectBefore: Date | null },
  now: Date,
): ConnectionHealth {
  const { active, platform, targets, reconnectBefore } = connection
  if (!active) return 'NEEDS_RECONNECT'
  if (hasPlaces(platform) && !targets.some(({ selected, available }) => selected && available)) return 'NEEDS_SELECTION'
  return reconnectBefore !== null && reconnectBefore.getTime() - now.getTime() <= expiringMs ? 'EXPIRING' : 'HEALTHY'
}
