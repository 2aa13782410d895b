import type { Logger } from 'pino'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { type Sending, send } from '../../../../platform/outbound/webhooks/send.ts'
import { type Answered, beginTry, conclude, isStillTried } from '../../../../platform/outbound/webhooks/tries.ts'
import type { Writing } from '../../../store/books.ts'
import { step, write } from '../../../store/write.ts'
import type { DeliveryKey, PaymentWebhookDeliveryRow, WebhookDeliveries } from '../../stores/events/webhook-delivery.ts'
import { placeOfSecret, type WebhookEndpoints } from '../../stores/events/webhook-endpoint.ts'

/** What deliveries are made with. */
export interface DeliveryWork extends Writing {
  readonly webhookDeliveries: WebhookDeliveries
  readonly webhookEndpoints: WebhookEndpoints
  readonly callersWay: Sending['way']
  readonly cipher: Cipher
  readonly clock: Clock
  readonly log: Logger
}

/** The job that delivers events to endpoints. */
export interface Delivering {
  readonly sweep: Sweep
  /** Has it look at once: something has become due. */
  wake(): void
  /** Resolves when no try is under way any more. */
  ended(): Promise<void>
}

/** How often deliveries are looked for that are due, in ms; how many tries run at once, in all and at one endpoint. */
const [everyMs, maxTries, maxAtEndpoint] = [5_000, 64, 4]

/** Delivers events: tries run beside the sweep, so that an endpoint which is slow holds up no other. */
export function delivering(job: () => DeliveryWork): Delivering {
  let wake: () => void = () => {}
  const running = new Map<Promise<void>, string>()
  const countAt = (endpointId: string) =>
    running
      .values()
      .filter(each => each === endpointId)
      .toArray().length

  function start(key: DeliveryKey): void {
    const work = job()
    const trying: Promise<void> = deliver(work, key)
      .catch(error => work.log.error({ err: error, deliveryId: key.id }, 'a webhook delivery could not be tried; it is tried again'))
      .finally(() => {
        running.delete(trying)
        wake()
      })
    running.set(trying, key.endpointId)
  }

  return {
    wake: () => wake(),
    ended: async () => void (await Promise.all(running.keys())),
    sweep: {
      name: 'webhooks to deliver',
      everyMs,
      wakes(given) {
        wake = given
      },
      async run() {
        if (running.size >= maxTries) return
        const found = await job().webhookDeliveries.due(job().clock.now(), maxAtEndpoint, maxTries - running.size)
        for (const key of found) if (countAt(key.endpointId) < maxAtEndpoint) start(key)
      },
    },
  }
}

/** Makes one try: it is counted before the call and concluded after it, so a crash in between has the event sent again under the same id. */
async function deliver(job: DeliveryWork, { id }: DeliveryKey): Promise<void> {
  const begun = await step(job, {
    of: job.webhookDeliveries,
    hold: transaction => job.webhookDeliveries.lockIfFree(id, transaction),
    decide(delivery, { now }) {
      const changes = beginTry(delivery, now)
      return changes && { changes }
    },
  })
  if (!begun) return
  crash('webhook-claimed')
  const answered = await call(job, begun.after)
  if (answered === undefined) return
  crash('webhook-answered')
  await settle(job, begun.after, answered)
}

async function call(job: DeliveryWork, delivery: PaymentWebhookDeliveryRow): Promise<Answered | undefined> {
  const { callersWay, webhookEndpoints, clock, log } = job
  const { id, endpointId, body, organizationId } = delivery
  const endpoint = await webhookEndpoints.byId.load(endpointId)
  // It was deleted with its deliveries.
  if (!endpoint) return undefined
  if (!endpoint.active) {
    const failed = { status: 'FAILED', nextAttemptAt: null } as const
    await step(job, { of: job.webhookDeliveries, hold: id, decide: held => (isStillTried(delivery, held) ? { changes: failed, isNews: true } : null) })
    return undefined
  }
  const now = clock.now()
  try {
    const secrets = (await webhookEndpoints.secretsOf(endpointId, now)).map(kept => job.cipher.open(kept.secret, placeOfSecret(kept.id)))
    return await send({ way: callersWay, log }, { id, body, url: endpoint.url, secrets, organizationId }, now)
  } catch (error) {
    log.error({ err: error, webhookId: endpointId }, 'a webhook could not be signed; it is tried again')
    return null
  }
}

/** Writes what came of a try: the delivery, and that nothing more is sent to an endpoint that is given up. */
async function settle(job: DeliveryWork, begun: PaymentWebhookDeliveryRow, status: Answered): Promise<void> {
  const { webhookDeliveries, webhookEndpoints } = job
  await write(job, {
    async run({ transaction, now }) {
      const held = await webhookDeliveries.lock(begun.id, transaction)
      if (!held || !isStillTried(begun, held)) return null
      const { delivery, disabledReason } = conclude(held, status, now)
      await webhookDeliveries.update(held, { ...delivery, updatedAt: now, version: held.version + 1 }, transaction)
      const row = disabledReason === null ? null : await webhookEndpoints.lock(begun.endpointId, transaction)
      if (!row?.active) return { isGivenUp: false }
      await webhookEndpoints.update(row, { active: false, disabledReason, updatedAt: now, version: row.version + 1 }, transaction)
      return { isGivenUp: true }
    },
    audit: ({ isGivenUp }) =>
      isGivenUp ? { tenantId: begun.organizationId, action: 'webhook.disabled', subjectId: begun.endpointId, details: { status } } : null,
  })
}
