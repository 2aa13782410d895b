import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from 'sequelize'
import type { Events } from '../../../platform/events.ts'
import type { FactBody, NewFact } from '../../store/fact-kinds.ts'
import type { Following } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { expiringMs, healthOf } from '../network/account/account.ts'
import { everyNetwork } from '../network/networks.ts'
import { eventsOfConnection } from '../news/webhook/told.ts'
import type { BrandRow } from '../stores/brand.ts'
import type { ConnectionRow } from '../stores/connection.ts'

/** Adds a connection's health to its changes; all writers use it. */
export const withHealth = <Changes extends Partial<ConnectionRow>>(
  row: ConnectionRow,
  changes: Changes,
  now: Date,
): Changes & Pick<ConnectionRow, 'health'> => ({
  ...changes,
  health: healthOf({ ...row, ...changes }, now),
})

/** Reason of a connection that a person has disconnected: nobody needs to be notified. */
export const endedByPerson = 'The account was disconnected: connect it again to use it.'

/** Returns the attention fact for a connection's managers in its present state; null for none. */
function attentionOf(row: ConnectionRow | null, organizationId: string, publicUrl: string): FactBody<'attention.opened'> | null {
  const kind = row?.health === 'EXPIRING' ? 'CONNECTION_EXPIRING' : row?.health === 'NEEDS_RECONNECT' ? 'CONNECTION_BROKEN' : null
  if (!row || kind === null || row.deactivatedReason === endedByPerson) return null
  const { title } = everyNetwork[row.platform]
  const due = kind === 'CONNECTION_EXPIRING' ? row.reconnectBefore : null
  return {
    key: attentionKey(row),
    kind,
    organizationId,
    subjectId: row.id,
    title:
      `${due ? `Reconnect ${row.accountName} on ${title} before ${due.toISOString().slice(0, 10)}` : `${row.accountName} on ${title} is not connected any more`}`.slice(
        0,
        300,
      ),
    url: `${publicUrl}/publishing/integrations`,
    // The time of the change as far as it is stored: the same for each read.
    at: (due ? new Date(due.getTime() - expiringMs) : row.updatedAt).toISOString(),
    audience: 'managers',
    ...(due && { dueAt: due.toISOString() }),
    ...(row.deactivatedReason && { body: row.deactivatedReason.slice(0, 1_000) }),
  }
}

const attentionKey = ({ id }: Pick<ConnectionRow, 'id'>): string => `connection:${id}`

/**
 * Returns the facts about a change of a connection: that it needs a manager, or no longer does.
 * @param before null for a new one
 * @param after  null for a deleted one
 */
export function healthFacts(
  before: ConnectionRow | null,
  after: ConnectionRow | null,
  { organizationId, publicUrl }: { organizationId: string; publicUrl: string },
): readonly NewFact[] {
  const [was, is] = [attentionOf(before, organizationId, publicUrl), attentionOf(after, organizationId, publicUrl)]
  const isNews = is && !(was && isDeepStrictEqual({ ...was, at: '' }, { ...is, at: '' }))
  if (isNews) return [{ kind: 'attention.opened', body: is }]
  return was && !is ? [{ kind: 'attention.closed', body: { key: was.key } }] : []
}

/**
 * Returns the open attention facts of a brand's connections, for the organization that the brand has moved to; those of
 * the former one were closed before.
 */
export const movedFacts = (
  connections: readonly ConnectionRow[],
  from: { organizationId: string; publicUrl: string },
  to: { organizationId: string },
): readonly NewFact[] =>
  connections.flatMap(row => [...healthFacts(row, null, from), ...healthFacts(null, row, { publicUrl: from.publicUrl, organizationId: to.organizationId })])

/** The topic of connections of an organization whose health has changed. */
export const connectionHealthTopic = (organizationId: string): string => `publishing.connection-health.${organizationId}`

type Followed = Pick<ConnectionRow, 'id' | 'brandId' | 'version' | 'health' | 'active'>

const eventOf = ({ id, brandId, version, health, active }: Followed) => [{ connectionId: id, brandId }, `${version} ${health} ${active}`] as const

/** Registers the resync of followed connections, because events may be lost between processes. */
export const resyncConnections = (events: Events, changedSince: (organizationId: string, since: Date) => Promise<readonly Followed[]>): void =>
  events.resync(connectionHealthTopic(''), async (organizationId, since) =>
    (await changedSince(organizationId, since)).map(connection => {
      const [ids, mark] = eventOf(connection)
      return { ids, mark }
    }),
  )

/** A connection before and after a change; `before` is null for a new one, `after` for a deleted one. */
export interface ChangedConnection {
  readonly before: ConnectionRow | null
  readonly after: ConnectionRow | null
}

/** Consequences of a change, with the brand of the connection. */
type Belonging = Pick<Following<ChangedConnection>, 'facts' | 'announce'> & {
  /** Locks the brand until the transaction ends; null if it was deleted. */
  readonly share: (transaction: Transaction) => Promise<BrandRow | null>
}

/**
 * Returns the consequences of a connection's change: facts in its transaction, events after it. They go to the brand's
 * organization at that moment, so the writer locks the brand by `share` before the connection.
 */
export function healthFollows({ brands, events, publicUrl }: Pick<Job, 'brands' | 'events' | 'publicUrl'>, brandId: string): Belonging {
  let brand = null as BrandRow | null
  return {
    share: async transaction => (brand = await brands.share(brandId, transaction)),
    facts: ({ before, after }) =>
      brand ? [...healthFacts(before, after, { organizationId: brand.organizationId, publicUrl }), ...eventsOfConnection(before, after)] : [],
    announce({ before, after }) {
      if (brand) announceHealth(events, brand, { before, after })
    },
  }
}

/** Publishes a change of health to the organization. */
export function announceHealth(events: Events, { organizationId }: Pick<BrandRow, 'organizationId'>, { before, after }: ChangedConnection): void {
  const isSame = before?.health === after?.health && before?.active === after?.active
  if (after && !isSame) events.announce(connectionHealthTopic(organizationId), ...eventOf(after))
}

/**
 * Returns how a job's step locks a connection whose change is published: the brand first, as a transfer of the brand
 * does.
 */
export function heldWithBrand(job: Pick<Job, 'brands' | 'connections' | 'events' | 'publicUrl'>, { id, brandId }: Pick<ConnectionRow, 'id' | 'brandId'>) {
  const { share, ...follows } = healthFollows(job, brandId)
  return {
    ...follows,
    of: job.connections,
    async hold(transaction: Transaction): Promise<ConnectionRow | null> {
      await share(transaction)
      return job.connections.lock(id, transaction)
    },
  }
}
