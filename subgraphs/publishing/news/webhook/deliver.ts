import { doForOrganization } from '../../../../platform/caller/cause.ts'
import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { step, write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { WebhookEndpointRow } from '../../stores/news/webhook.ts'
import type { WebhookDeliveryRow } from '../../stores/news/webhook-delivery.ts'
import { tryAt } from './queue.ts'
import { type Answered, conclude, patienceMs, pauses, silenceOf, tryMs } from './rules.ts'

/**
 * Makes one try of a delivery, if it is due and nobody else is at it. The try is counted before the call and concluded after it, so a
 * crash in between leaves a delivery whose time comes again: it is told once more, under the same id, and never lost.
 */
export async function deliverWebhook(job: Job, brandId: string, id: string): Promise<void> {
  const claimed = await claim(job, brandId, id)
  if (!claimed) return
  crash('webhook-claimed')
  const endpoint = await job.webhookEndpoints.byId.load(claimed.endpointId)
  const brand = await job.brands.byId.load(brandId)
  // Gone with its deliveries.
  if (!endpoint || !brand) return
  if (silenceOf(endpoint, brand) !== null) {
    await step(job, { of: job.webhookDeliveries, hold: id, decide: isMine(claimed, { status: 'FAILED', nextAttemptAt: null }) })
    return
  }
  const status = await doForOrganization(brand.organizationId, () => call(job, endpoint, claimed))
  crash('webhook-answered')
  await settle(job, claimed, endpoint, status)
}

/** Counts a try; null when it is not due, over, or somebody else's at this moment. */
async function claim(job: Job, brandId: string, id: string): Promise<WebhookDeliveryRow | null> {
  const { webhookDeliveries } = job
  const taken = await step(job, {
    of: webhookDeliveries,
    hold: transaction => webhookDeliveries.lockIfFree(brandId, id, transaction),
    decide({ status, nextAttemptAt, attempts }, { now }) {
      if (status !== 'PENDING' || !nextAttemptAt || nextAttemptAt > now) return null
      // One that was interrupted in its last try has that one again.
      return { changes: { attempts: Math.min(attempts + 1, pauses.length), nextAttemptAt: new Date(now.getTime() + tryMs) } }
    },
  })
  return taken?.after ?? null
}

/** What changes if the try is still this worker's: nobody has taken it up since. */
const isMine = (claimed: WebhookDeliveryRow, changes: Partial<WebhookDeliveryRow>) => (held: WebhookDeliveryRow) =>
  held.status === 'PENDING' && held.nextAttemptAt?.getTime() === claimed.nextAttemptAt?.getTime() ? { changes, isNews: true } : null

async function call(job: Job, endpoint: WebhookEndpointRow, { id, body }: WebhookDeliveryRow): Promise<Answered> {
  const { callersWay, webhookEndpoints, formerSecrets, clock, log } = job
  const now = clock.now()
  try {
    const { Webhook } = await import('standardwebhooks')
    const secrets = [...webhookEndpoints.secretsOf(endpoint, now), ...(await formerSecrets.secretsOf(endpoint, now))]
    const signatures = secrets.map(secret => new Webhook(secret).sign(id, now, body))
    // A name may lead elsewhere than when it was written down, and addresses of our own are for nobody to have called.
    if (!(await callersWay.reaches(new URL(endpoint.url)))) return null
    const { status } = await callersWay.outbound(endpoint.url, {
      method: 'POST',
      timeoutMs: patienceMs,
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      },
    })
    return status
  } catch (error) {
    if (!(error instanceof OutboundFailure)) log.error({ err: error, webhookId: endpoint.id }, 'a webhook could not be signed or sent; it is tried again')
    return null
  }
}

/** Writes what came of a try: the delivery, the next wake-up, and that nothing more is told to an address that is wanted no more. */
async function settle(job: Job, claimed: WebhookDeliveryRow, endpoint: WebhookEndpointRow, status: Answered): Promise<void> {
  const { webhookDeliveries, webhookEndpoints, jobs } = job
  await write(job, {
    async run({ transaction, now }) {
      const held = await webhookDeliveries.lock(claimed.id, transaction)
      if (!held || !isMine(claimed, {})(held)) return null
      const { delivery, disabledReason } = conclude(held, status, now)
      const after = await webhookDeliveries.update(held, { ...delivery, updatedAt: now, version: held.version + 1 }, transaction)
      if (after.nextAttemptAt) await tryAt(jobs, after, after.nextAttemptAt, transaction)
      const row = disabledReason === null ? null : await webhookEndpoints.lock(endpoint.id, transaction)
      const isGivenUp = row?.active === true
      if (row && isGivenUp) await webhookEndpoints.update(row, { active: false, disabledReason, updatedAt: now, version: row.version + 1 }, transaction)
      crash('webhook-settled')
      return { isGivenUp }
    },
    audit: ({ isGivenUp }) => (isGivenUp ? { tenantId: claimed.brandId, action: 'webhook.disabled', subjectId: endpoint.id, details: { status } } : null),
  })
}

/** How long a delivery is left to its own wake-up before the sweep takes it, in ms; how often that goes round, and how many it takes. */
const [graceMs, everyMs, atOnce] = [2_000, 5_000, 50]

/** Finds deliveries whose wake-up was lost, or whose try was interrupted: the rows alone say what is to be done. */
export const webhookSweep = (job: () => Job): Sweep => ({
  name: 'overdue webhooks',
  everyMs,
  asksOthers: true,
  async run() {
    const opened = job()
    const found = await opened.webhookDeliveries.due(new Date(opened.clock.now().getTime() - graceMs), atOnce)
    await Promise.all(
      found.map(({ brandId, id }) =>
        deliverWebhook(opened, brandId, id).catch(error =>
          opened.log.error({ err: error, deliveryId: id }, 'a webhook could not be taken up; the next round tries again'),
        ),
      ),
    )
  },
})
