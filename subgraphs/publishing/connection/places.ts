import { hasPlaces, type KeptPlace, placeKinds } from '../network/account/account.ts'
import type { Problem, ProblemCode } from '../network/content/check.ts'
import type { Platform, Target } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { ConnectionRow } from '../stores/connection.ts'

/** As much of a connection as says where posts may go by it. */
export type WithPlaces = Pick<ConnectionRow, 'platform' | 'active' | 'externalAccountId' | 'targets'>

type Named = Pick<Target, 'kind' | 'externalId'>

const isAt =
  (named: Named) =>
  ({ kind, externalId }: KeptPlace): boolean =>
    kind === named.kind && externalId === named.externalId

/** The place of that name, chosen or not; `true` for the account itself where that is named, undefined: the connection does not have it. */
const found = ({ targets, externalAccountId }: WithPlaces, named: Named): KeptPlace | true | undefined =>
  placeKinds.has(named.kind) ? targets.find(isAt(named)) : named.externalId === externalAccountId || undefined

/** What people call a place that the brand has connected; null for one that no connection knows, or that names the account itself. */
export function nameOfPlace(connections: readonly Pick<ConnectionRow, 'platform' | 'targets'>[], platform: Platform, named: Named): string | null {
  for (const connection of connections) {
    const place = connection.platform === platform && connection.targets.find(isAt(named))
    if (place) return place.name
  }
  return null
}

/** Whether a post with this target may go out by the connection: its place is chosen there, or it names the account itself. */
export function isChosen(connection: WithPlaces, named: Named | null): boolean {
  const place = named && found(connection, named)
  return named === null || place === true || (place?.selected ?? false)
}

/** Whether the account has a place to which posts go when they name none, and that takes some. */
export const hasDefault = ({ targets }: Pick<ConnectionRow, 'targets'>): boolean =>
  targets.some(({ selected, isDefault, available }) => selected && isDefault && available)

/**
 * Where within a connection's account a post goes.
 * @returns null: to the account itself; TARGET_MISSING: it names no place and the connection has no default one; TARGET_UNAVAILABLE: the
 *   connection does not have its place, nobody has chosen that, or it takes no posts
 */
export function placeOf(connection: WithPlaces, { target }: { readonly target: Target | null }): Target | null | 'TARGET_MISSING' | 'TARGET_UNAVAILABLE' {
  if (target === null && !hasPlaces(connection.platform)) return null
  const place = target === null ? connection.targets.find(({ selected, isDefault }) => selected && isDefault) : found(connection, target)
  if (place === true) return null
  if (!place) return target === null ? 'TARGET_MISSING' : 'TARGET_UNAVAILABLE'
  return place.selected && place.available ? { kind: place.kind, externalId: place.externalId, name: place.name } : 'TARGET_UNAVAILABLE'
}

/** What is wrong with where a post is to go, by what the brand has connected: nothing, an error of the place, or a warning that nothing is connected. */
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
