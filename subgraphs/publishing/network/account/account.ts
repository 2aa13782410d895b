import { groupsAreOff } from '../facebook/groups.ts'
import type { Platform, Target, TargetKind } from '../network.ts'
import { everyNetwork } from '../networks.ts'

/** How a connection does, and so whether somebody has to do something. */
export type ConnectionHealth = 'HEALTHY' | 'EXPIRING' | 'NEEDS_SELECTION' | 'NEEDS_RECONNECT'

/** A target of an account as stored: what the network listed, and what a person selected. */
export interface KeptPlace {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string
  readonly selected: boolean
  readonly isDefault: boolean
  /** Whether posts may go there; `reason` says why not. */
  readonly available: boolean
  readonly reason: string | null
}

/** Places within an account, of which it may have several; the other kinds name the account itself. */
export const placeKinds: ReadonlySet<TargetKind> = new Set(['PAGE', 'GROUP', 'ORGANIZATION'])

/** Whether posts for a network always go to a place within the account. */
export const hasPlaces = (platform: Platform): boolean => everyNetwork[platform].targets.some(kind => placeKinds.has(kind))

/** The name of a place within its account, as tokens of places are kept by it. */
export const placeKey = ({ kind, externalId }: Pick<Target, 'kind' | 'externalId'>): string => `${kind}:${externalId}`

/** How many targets of an account are stored: selected ones come first. */
export const mostPlaces = 50

/** What of an account's list of places is kept: what a person chose stays, and of a first list the first that takes posts is chosen, and the default. */
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

/** Of chosen places the first that takes posts is the default, where none is. */
const withDefault = (places: readonly KeptPlace[]): readonly KeptPlace[] => {
  if (places.some(({ selected, isDefault }) => selected && isDefault)) return places
  const first = places.find(({ selected, available }) => selected && available)
  return places.map(place => ({ ...place, isDefault: place === first }))
}

/** How long before nothing but a person can renew an access people are told so, in ms. */
export const expiringMs = 7 * 86_400_000

/** How a connection does: by what is kept of it alone, so that everybody sees the same. */
export function healthOf(
  connection: { readonly active: boolean; readonly platform: Platform; readonly targets: readonly KeptPlace[]; readonly reconnectBefore: Date | null },
  now: Date,
): ConnectionHealth {
  const { active, platform, targets, reconnectBefore } = connection
  if (!active) return 'NEEDS_RECONNECT'
  if (hasPlaces(platform) && !targets.some(({ selected, available }) => selected && available)) return 'NEEDS_SELECTION'
  return reconnectBefore !== null && reconnectBefore.getTime() - now.getTime() <= expiringMs ? 'EXPIRING' : 'HEALTHY'
}
