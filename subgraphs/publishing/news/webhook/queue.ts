import type { Transaction } from 'sequelize'
import type { Jobs } from '../../../../platform/jobs/jobs.ts'
import type { JobQueue } from '../../../../platform/jobs/queue.ts'
import type { DeliveryKey } from '../../stores/news/webhook-delivery.ts'

/** The queue of wake-ups for webhooks that are to be tried. */
const name = 'deliver-webhook'

/** Has a delivery tried then. */
export const tryAt = (jobs: Jobs, { brandId, id, endpointId }: DeliveryKey, at: Date, transaction: Transaction): Promise<void> =>
  jobs.enqueue(name, { brandId, id, endpointId }, { transaction, startAfter: at, key: id })

/** The queue as it runs: an address that is slow holds up nobody else's. */
export const webhookQueue = (deliver: (brandId: string, id: string) => Promise<unknown>): JobQueue => ({
  name,
  groupOf: ({ endpointId }) => endpointId ?? null,
  async handle({ brandId, id }) {
    await deliver(brandId!, id!)
  },
})
