import { hasPlaces, type KeptPlace, placeKinds } from '../network/account/account.ts'
import type { Problem, ProblemCode } from '../network/content/check.ts'
import type { Platform } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { Target } from '../network/publication.ts'
import type { ConnectionRow } from '../stores/connection.ts'

/** The fields of a connection that determine where posts may go. */
export type WithPlaces = Pick<ConnectionRow, 'platform' | 'active' | 'externalAccountId' | 'targets'>

type Named = Pick<Target, 'kind' | 'externalId'>

const isAt =
  (named: Named) =>
  ({ kind, externalId }: KeptPlace): boolean =>
    kind === named.kind && externalId === named.externalId

/**
 * Returns the named place, selected or not; `true` for the account itself; undefined when the connection does not have
 * the place.
 */
const found = ({ targets, externalAccountId }: WithPlaces, named: Named): KeptPlace | true | undefined =>
  placeKinds.has(named.kind) ? targets.find(isAt(named)) : named.externalId === externalAccountId || undefined

/** Returns the display name of a connected place; null for an unknown one, and for the account itself. */
export function nameOfPlace(connections: readonly Pick<ConnectionRow, 'platform' | 'targets'>[], platform: Platform, named: Named): string | null {
  for (const connection of connections) {
    const place = connection.platform === platform && connection.targets.find(isAt(named))
    if (place) return place.name
  }
  return null
}

/** Whether a post with this target may go out by the connection: its place is selected, or it is the account itself. */
export function isChosen(connection: WithPlaces, named: Named | null): boolean {
  const place = named && found(connection, named)
  return named === null || place === true || (place?.selected ?? false)
}

/** Whether the account has a default place that accepts posts. */
export const hasDefault = ({ targets }: Pick<ConnectionRow, 'targets'>): boolean =>
  targets.some(({ selected, isDefault, available }) => selected && isDefault && available)

/**
 * Returns the place within a connection's account to which a post goes.
 * @returns null for the account itself; TARGET_MISSING: the post names no place and there is no default;
 * TARGET_UNAVAILABLE: the
 *   place is missing, not selected, or accepts no posts
 */
export function placeOf(connection: WithPlaces, { target }: { readonly target: Target | null }): Target | null | 'TARGET_MISSING' | 'TARGET_UNAVAILABLE' {
  if (target === null && !hasPlaces(connection.platform)) return null
  const place = target === null ? connection.targets.find(({ selected, isDefault }) => selected && isDefault) : found(connection, target)
  if (place === true) return null
  if (!place) return target === null ? 'TARGET_MISSING' : 'TARGET_UNAVAILABLE'
  return place.selected && place.available ? { kind: place.kind, externalId: place.externalId, name: place.name } : 'TARGET_UNAVAILABLE'
}

/**
 * Returns the problems of a post's target, given the brand's connections: an error about the place, or a warning that
 * nothing is connected.
 */
export function targetProblems(connections: readonly WithPlaces[], platform: Platform, target: Named | null): readonly Problem[] {
  const { title } = everyNetwork[platform]
  const usable = connections.filter(connection => connection.active && connection.platform === platform)
  const say = (severity: Problem['severity'], code: ProblemCode, field: string, message: string): readonly Problem[] => [{ severity, code, field, message }]
  if (usable.length === 0)
    return say('WARNING', 'NO_CONNECTION', 'platform', `The brand has no active connection to ${title}: connect an account before the post’s time.`)
  if (target === null) {
    if (!hasPlaces(platform) || usable.some(hasDefault)) return []
    return say('ERROR', 'TARGET_MISSING', 'target', `${title} wants a place: choose one of the connection’s, or name one in the post.`)
  }
  const places = usable.flatMap(connection => found(connection, target) ?? [])
  if (places.length === 0)
    return say('ERROR', 'TARGET_UNKNOWN', 'target', `No account that the brand has connected to ${title} has this place: choose one that it has.`)
  if (places.some(place => place === true || (place.selected && place.available))) return []
  const [place] = places as readonly KeptPlace[]
  const why = place!.available ? 'nobody has chosen it for the connection' : (place!.reason ?? 'it takes no posts')
  return say('ERROR', 'TARGET_UNAVAILABLE', 'target', `The post cannot go to ${place!.name}: ${why}.`)
}
