import { crash } from '../../../../platform/crash.ts'
import type { JobQueue, Sweep } from '../../../../platform/jobs/queue.ts'
import { type Deliveries, deliver, tryAt, webhookQueue, webhookSweep } from '../../../../platform/outbound/webhooks/queue.ts'
import { send } from '../../../../platform/outbound/webhooks/send.ts'
import { type Answered, beginTry, conclude, isStillTried } from '../../../../platform/outbound/webhooks/tries.ts'
import { step, write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { WebhookEndpointRow } from '../../stores/news/webhook.ts'
import { type DeliveryKey, keyOf, type WebhookDeliveryRow } from '../../stores/news/webhook-delivery.ts'
import { silenceOf } from './rules.ts'

/** The webhook deliveries of publishing in the form that the platform's sender processes. */
const deliveriesOf = (job: Job): Deliveries<DeliveryKey, WebhookDeliveryRow> => ({
  begin: key => begin(job, key),
  call: delivery => call(job, delivery),
  settle: (delivery, answered) => settle(job, delivery, answered),
  due: (before, limit) => job.webhookDeliveries.due(before, limit),
})

/** Makes one attempt of a delivery if it is due and no other process is working on it. */
export const deliverWebhook = (job: Job, key: DeliveryKey): Promise<void> => deliver(deliveriesOf(job), key)

/** Jobs of webhooks: the queue of wake-ups, and the sweep that finds lost ones. */
export const webhookJobs = (job: () => Job, sweeping: Parameters<typeof webhookSweep>[1]): { readonly queue: JobQueue; readonly sweep: Sweep } => ({
  queue: webhookQueue(() => deliveriesOf(job())),
  sweep: webhookSweep(() => deliveriesOf(job()), sweeping),
})

async function begin(job: Job, { brandId, id }: DeliveryKey): Promise<WebhookDeliveryRow | null> {
  const { webhookDeliveries } = job
  const begun = await step(job, {
    of: webhookDeliveries,
    hold: transaction => webhookDeliveries.lockIfFree(brandId, id, transaction),
    decide(delivery, { now }) {
      const changes = beginTry(delivery, now)
      return changes && { changes }
    },
  })
  return begun?.after ?? null
}

async function call(job: Job, delivery: WebhookDeliveryRow): Promise<Answered | undefined> {
  const { callersWay, webhookEndpoints, clock, log } = job
  const { brandId, id, endpointId, body } = delivery
  const endpoint = await webhookEndpoints.byId.load(endpointId)
  const brand = await job.brands.byId.load(brandId)
  // The endpoint was deleted with its deliveries.
  if (!endpoint || !brand) return undefined
  if (silenceOf(endpoint, brand) !== null) {
    const failed = { status: 'FAILED', nextAttemptAt: null } as const
    await step(job, { of: job.webhookDeliveries, hold: id, decide: held => (isStillTried(delivery, held) ? { changes: failed, isNews: true } : null) })
    return undefined
  }
  const now = clock.now()
  const secrets = await secretsOf(job, endpoint, now)
  if (secrets === null) return null
  return send({ way: callersWay, log }, { id, body, url: endpoint.url, secrets, organizationId: brand.organizationId }, now)
}

/** Returns the signing secrets; null when they cannot be decrypted. */
async function secretsOf({ webhookEndpoints, formerSecrets, log }: Job, endpoint: WebhookEndpointRow, now: Date): Promise<readonly string[] | null> {
  try {
    return [...webhookEndpoints.secretsOf(endpoint, now), ...(await formerSecrets.secretsOf(endpoint, now))]
  } catch (error) {
    log.error({ err: error, webhookId: endpoint.id }, 'webhook could not be signed; it will be retried')
    return null
  }
}

/** Stores the result of an attempt and schedules the next one, or disables an endpoint that refuses webhooks. */
async function settle(job: Job, begun: WebhookDeliveryRow, status: Answered): Promise<void> {
  const { webhookDeliveries, webhookEndpoints, jobs } = job
  await write(job, {
    async run({ transaction, now }) {
      const held = await webhookDeliveries.lock(begun.id, transaction)
      if (!held || !isStillTried(begun, held)) return null
      const { delivery, disabledReason } = conclude(held, status, now)
      const after = await webhookDeliveries.update(held, { ...delivery, updatedAt: now, version: held.version + 1 }, transaction)
      if (after.nextAttemptAt) await tryAt(jobs, keyOf(after), after.nextAttemptAt, transaction)
      const row = disabledReason === null ? null : await webhookEndpoints.lock(begun.endpointId, transaction)
      const isGivenUp = row?.active === true
      if (row && isGivenUp) await webhookEndpoints.update(row, { active: false, disabledReason, updatedAt: now, version: row.version + 1 }, transaction)
      crash('webhook-settled')
      return { isGivenUp }
    },
    audit: ({ isGivenUp }) => (isGivenUp ? { tenantId: begun.brandId, action: 'webhook.disabled', subjectId: begun.endpointId, details: { status } } : null),
  })
}
