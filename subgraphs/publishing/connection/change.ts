import { DomainError } from '../../../platform/errors.ts'
import type { WriteTransaction } from '../../store/books.ts'
import { change } from '../../store/write.ts'
import type { Context, Job } from '../context.ts'
import { type KeptPlace, placeKey } from '../network/account/account.ts'
import type { GrantTokens, Platform } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { Target } from '../network/publication.ts'
import type { DisconnectConnectionInput, SelectConnectionTargetsInput } from '../resolvers.generated.ts'
import { type ConnectionRow, disconnected } from '../stores/connection.ts'
import { granting } from './granting.ts'
import { endedByPerson, healthFollows, withHealth } from './health.ts'

type Named = Pick<Target, 'kind' | 'externalId'>

/** Error for an authorization that only a person can renew. */
export const reconnectNeeded = ({ platform }: Pick<ConnectionRow, 'platform'>, why: string): DomainError =>
  new DomainError('CONFLICT', `${why} Connect the account on ${everyNetwork[platform].title} again.`, { reason: 'RECONNECT_NEEDED', platform })

/**
 * Returns the places of an account with a person's selection.
 * @param usual the default place for posts without one; if omitted, the former default if it is still selected, else
 * the first
 * @throws BAD_USER_INPUT for a place that the account does not have, or that accepts no posts
 */
export function choose(platform: Platform, places: readonly KeptPlace[], chosen: readonly Named[], usual: Named | null): readonly KeptPlace[] {
  const wrong = (field: string, named: Named, what: string) =>
    new DomainError('BAD_USER_INPUT', `${named.kind} ${named.externalId} ${what} on ${everyNetwork[platform].title}: choose one that the connection lists.`, {
      field,
    })
  const byKey = new Map(places.map(place => [placeKey(place), place]))
  for (const [at, named] of chosen.entries()) {
    const place = byKey.get(placeKey(named))
    if (!place) throw wrong(`targets.${at}`, named, 'is no place of this account')
    if (!place.available && !place.selected) throw wrong(`targets.${at}`, named, `takes no posts (${place.reason ?? 'it does not say why'})`)
  }
  const keys = new Set(chosen.map(placeKey))
  if (usual !== null && !keys.has(placeKey(usual))) throw wrong('default', usual, 'is not among the chosen places')
  if (usual !== null && !byKey.get(placeKey(usual))!.available) throw wrong('default', usual, 'takes no posts')
  const before = places.find(place => place.isDefault && keys.has(placeKey(place)))
  const first = places.find(place => place.available && keys.has(placeKey(place)))
  const key = usual ? placeKey(usual) : before ? placeKey(before) : first && placeKey(first)
  return places.map(place => ({ ...place, selected: keys.has(placeKey(place)), isDefault: placeKey(place) === key }))
}

/** Returns the consequences of a person's change of a connection, whose brand must be active. */
function followedInUse(context: Context, brandId: string) {
  const { share, ...follows } = healthFollows(context, brandId)
  return {
    ...follows,
    async before({ transaction }: WriteTransaction): Promise<void> {
      await context.brands.requireInUse(brandId, transaction)
      await share(transaction)
    },
  }
}

/** Selects the places of an account to which posts may go. */
export async function selectTargets(context: Context, { id, targets, default: usual, expectedVersion }: SelectConnectionTargetsInput): Promise<ConnectionRow> {
  const { brandId } = await context.connections.require(id)
  return change(context, {
    of: context.connections,
    id,
    expectedVersion,
    ...followedInUse(context, brandId),
    decide(row, { now }) {
      if (!row.active) throw reconnectNeeded(row, 'The connection is out of use, and its places with it.')
      return withHealth(row, { targets: choose(row.platform, row.targets, targets, usual ?? null) }, now)
    },
    audit: ({ after }) => ({
      tenantId: brandId,
      action: 'connection.targets_selected',
      subjectId: id,
      details: { targets: after.targets.filter(({ selected }) => selected).map(placeKey) },
    }),
  })
}

/** Ends a connection: its tokens are erased, then revoked at the network where it supports that. */
export async function disconnect(context: Context, { id, expectedVersion }: DisconnectConnectionInput): Promise<ConnectionRow> {
  const { brandId } = await context.connections.require(id)
  const follows = followedInUse(context, brandId)
  return change(context, {
    of: context.connections,
    id,
    expectedVersion,
    ...follows,
    decide: row => (row.active ? disconnected(endedByPerson) : {}),
    audit: () => ({ tenantId: brandId, action: 'connection.disconnected', subjectId: id }),
    announce(changed) {
      follows.announce?.(changed)
      revokeInTime(context, changed.before)
    },
  })
}

/**
 * Revokes a grant at its network in the background; a stop of the process waits for it. A grant that another connection
 * of the same account may use is kept, because networks revoke all of an account's grants at once.
 * @param tokens former tokens that the row no longer holds @default the row's
 */
export function revokeInTime(
  job: Pick<Job, 'applications' | 'brands' | 'connections' | 'networks' | 'afterRenewals' | 'log'>,
  row: ConnectionRow,
  tokens?: GrantTokens,
): void {
  const network = job.networks.get(row.platform)
  const revoke = async (): Promise<void> => {
    if (!network?.revoke || (await job.connections.isUsedElsewhere(row))) return
    const asked = await granting(job, network, row)
    await asked.revoke!(tokens ?? job.connections.open(row))
  }
  const under = revoke()
    .catch(error => job.log.warn({ err: error, platform: row.platform, connectionId: row.id }, 'network did not revoke its authorization'))
    .finally(() => job.afterRenewals.delete(under))
  job.afterRenewals.add(under)
}
