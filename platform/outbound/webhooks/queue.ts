import type { Transaction } from 'sequelize'
import { crash } from '../../crash.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { JobData, JobQueue, Sweep } from '../../jobs/queue.ts'
import type { Answered } from './tries.ts'

/** Queue of wake-ups for webhook deliveries, in the subgraph that sends them. */
const name = 'deliver-webhook'

/** Data of a delivery's wake-up: its id, its endpoint's id, and whatever else identifies it. */
export type DeliveryKey = JobData & { readonly id: string; readonly endpointId: string }

/** A subgraph's operations on its own table of deliveries. */
export interface Deliveries<Key extends DeliveryKey, Delivery> {
  /**
   * Counts an attempt, in a transaction of its own (`beginTry`); null when the delivery is not due, has ended, or is in
   * progress elsewhere.
   */
  begin(key: Key): Promise<Delivery | null>
  /** Makes the call (`send`); undefined when the endpoint is gone, and nothing is stored. */
  call(delivery: Delivery): Promise<Answered | undefined>
  /**
   * Stores the result (`conclude`), in a transaction with the next wake-up, if the attempt is still the latest
   * (`isStillTried`).
   */
  settle(delivery: Delivery, answered: Answered): Promise<void>
  /**
   * Returns deliveries that should have been attempted before a moment: their wake-up was lost, or their attempt
   * interrupted.
   */
  due(before: Date, limit: number): Promise<readonly Key[]>
}

/**
 * Makes one attempt of a delivery, if it is due and not in progress elsewhere. The attempt is counted before the call
 * and concluded after it, so a crash in between leads to another attempt under the same id, and the delivery is never
 * lost.
 */
export async function deliver<Key extends DeliveryKey, Delivery>(deliveries: Deliveries<Key, Delivery>, key: Key): Promise<void> {
  const begun = await deliveries.begin(key)
  if (begun === null) return
  crash('webhook-claimed')
  const answered = await deliveries.call(begun)
  if (answered === undefined) return
  crash('webhook-answered')
  await deliveries.settle(begun, answered)
}

/** Schedules an attempt of a delivery. */
export const tryAt = (jobs: Jobs, key: DeliveryKey, at: Date, transaction: Transaction): Promise<void> =>
  jobs.enqueue(name, key, { transaction, startAfter: at, key: key.id })

/** Creates the queue; a slow endpoint delays no other. */
export const webhookQueue = <Key extends DeliveryKey, Delivery>(deliveries: () => Deliveries<Key, Delivery>): JobQueue => ({
  name,
  groupOf: ({ endpointId }) => endpointId ?? null,
  async handle(data) {
    await deliver(deliveries(), data as Key)
  },
})

/**
 * Time in ms for which a delivery is left to its own wake-up before the sweep takes it, the sweep's interval, and its
 * maximum number of deliveries.
 */
const [graceMs, everyMs, atOnce] = [2_000, 5_000, 50]

/** Dependencies of the sweep. */
export interface Sweeping {
  readonly clock: { now(): Date }
  readonly log: { error(facts: object, text: string): void }
}

/** Finds deliveries whose wake-up was lost, or whose attempt was interrupted, from the rows alone. */
export const webhookSweep = <Key extends DeliveryKey, Delivery>(deliveries: () => Deliveries<Key, Delivery>, { clock, log }: Sweeping): Sweep => ({
  name: 'overdue webhooks',
  everyMs,
  asksOthers: true,
  async run() {
    const opened = deliveries()
    const found = await opened.due(new Date(clock.now().getTime() - graceMs), atOnce)
    await Promise.all(
      found.map(key =>
        deliver(opened, key).catch(error => log.error({ err: error, deliveryId: key.id }, 'webhook delivery could not be started; the next round retries')),
      ),
    )
  },
})
