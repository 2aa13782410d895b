import type { Transaction } from 'sequelize'
import { crash } from '../../crash.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { JobData, JobQueue, Sweep } from '../../jobs/queue.ts'
import type { Answered } from './tries.ts'

/** The queue of wake-ups for webhooks that are to be tried, in the subgraph that tells them. */
const name = 'deliver-webhook'

/** A delivery as its wake-up knows it: its own id, that of its address, and whatever else finds it. */
export type DeliveryKey = JobData & { readonly id: string; readonly endpointId: string }

/** What a subgraph does about a delivery of its own tables. */
export interface Deliveries<Key extends DeliveryKey, Delivery> {
  /** Counts a try, in a transaction of its own (`beginTry`); null when it is not due, over, or somebody else's at this moment. */
  begin(key: Key): Promise<Delivery | null>
  /** Makes the call (`send`); undefined when there is nobody to tell any more, and nothing is concluded. */
  call(delivery: Delivery): Promise<Answered | undefined>
  /** Writes what came of it (`conclude`), in a transaction with the next wake-up, if the try is still this one (`isStillTried`). */
  settle(delivery: Delivery, answered: Answered): Promise<void>
  /** What should have been tried before a moment: its wake-up was lost, or its try interrupted. */
  due(before: Date, limit: number): Promise<readonly Key[]>
}

/**
 * Makes one try of a delivery, if it is due and nobody else is at it. The try is counted before the call and concluded after it, so a
 * crash in between leaves a delivery whose time comes again: it is told once more, under the same id, and never lost.
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

/** Has a delivery tried then. */
export const tryAt = (jobs: Jobs, key: DeliveryKey, at: Date, transaction: Transaction): Promise<void> =>
  jobs.enqueue(name, key, { transaction, startAfter: at, key: key.id })

/** The queue as it runs: an address that is slow holds up nobody else's. */
export const webhookQueue = <Key extends DeliveryKey, Delivery>(deliveries: () => Deliveries<Key, Delivery>): JobQueue => ({
  name,
  groupOf: ({ endpointId }) => endpointId ?? null,
  async handle(data) {
    await deliver(deliveries(), data as Key)
  },
})

/** How long a delivery is left to its own wake-up before the sweep takes it, in ms; how often that goes round, and how many it takes. */
const [graceMs, everyMs, atOnce] = [2_000, 5_000, 50]

/** What the sweep goes by. */
export interface Sweeping {
  readonly clock: { now(): Date }
  readonly log: { error(facts: object, text: string): void }
}

/** Finds deliveries whose wake-up was lost, or whose try was interrupted: the rows alone say what is to be done. */
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
