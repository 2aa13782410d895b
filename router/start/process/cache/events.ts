import type { Logger } from 'pino'
import type { Carrier } from '../../../../carriers/carrier.ts'
import { type CarriedEvents, createCarriedEvents } from '../../../../carriers/events.ts'
import type { Config } from '../../../../config.ts'
import type { OpenPool } from '../../../../platform/sql/pool.ts'
import { StartError } from '../../../../start-error.ts'

/** Opens the configured event transport between processes; null if none is needed. */
export async function openCarrier(
  { events }: Pick<Config, 'events'>,
  apart: boolean,
  { openPool, log }: { openPool: OpenPool; log: Logger },
): Promise<Carrier | null> {
  const kind = events.carrier ?? (events.natsUrl ? 'nats' : apart ? 'notify' : 'memory')
  if (kind === 'notify') return (await import('../../../../carriers/notify.ts')).createNotifyCarrier({ openPool, log })
  return kind === 'nats' ? (await import('../../../../carriers/nats.ts')).createNatsCarrier({ url: events.natsUrl!, log }) : null
}

/**
 * Opens the events of a router apart from subgraphs, which hears of changes by them.
 * @throws StartError where no transport is configured
 */
export async function openRouterEvents({
  config,
  log,
  stack,
}: {
  readonly config: Config
  readonly log: Logger
  readonly stack: AsyncDisposableStack
}): Promise<CarriedEvents> {
  const { carrier: named, natsUrl } = config.events
  const { databaseUrl: url } = config
  if (named === 'memory' || (!url && (named === 'notify' || !natsUrl)))
    throw new StartError(
      'RESPONSE_CACHE: a router apart from its subgraphs hears of changes by events: name their transport with NATS_URL, or DATABASE_URL for NOTIFY',
    )
  const { createOpenPool } = await import('../../../../db/connect.ts')
  // Without a database the transport is NATS, which opens no pool.
  const carrier = await openCarrier(config, true, { openPool: createOpenPool({ url: url ?? 'postgres://localhost', log }), log })
  const events = createCarriedEvents({ carrier, log })
  stack.defer(() => events.stop())
  return events
}
