import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { readDescription, readEvents, readUrl, requireReach } from '../../../../platform/outbound/webhooks/address.ts'
import { overlapMs, requireRoomForFormer } from '../../../../platform/outbound/webhooks/secrets.ts'
import { bodyOf } from '../../../../platform/outbound/webhooks/send.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { change, create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type {
  CreatePaymentWebhookInput,
  RedeliverPaymentWebhookInput,
  Resolvers,
  RotatePaymentWebhookSecretInput,
  TestPaymentWebhookInput,
  UpdatePaymentWebhookInput,
} from '../../resolvers.generated.ts'
import type { PaymentWebhookDeliveryRow } from '../../stores/events/webhook-delivery.ts'
import { maxEndpoints, newSealedSecret, outgoingEvents, type PaymentWebhookRow } from '../../stores/events/webhook-endpoint.ts'

/** Makes a secret for an endpoint and keeps it sealed. @returns it as it is shown */
async function makeSecret({ webhookEndpoints, cipher }: Context, endpointId: string, { now, transaction }: WriteTransaction): Promise<string> {
  const id = newId(now)
  const { shown, sealed } = newSealedSecret(cipher, id)
  await webhookEndpoints.keepSecret(id, endpointId, sealed, transaction)
  return shown
}

async function createWebhook(context: Context, input: CreatePaymentWebhookInput) {
  const { webhookEndpoints, viewer } = context
  const tenantId = activeOrganization(viewer, 'Webhooks')
  const fields = { url: readUrl(input.url), events: readEvents(input.events, outgoingEvents), description: readDescription(input.description) }
  await requireReach(context.callersWay, fields.url)
  let secret: string | null = null
  const { row } = await create(context, {
    of: webhookEndpoints,
    once: input,
    tenantId,
    async run({ transaction, now }, id) {
      const most = { inAll: maxEndpoints, aDay: Number.POSITIVE_INFINITY }
      requireQuota(await webhookEndpoints.madeFor(tenantId, transaction), most, 'webhooks of this organization', 'delete one that nobody needs', now)
      return { organizationId: tenantId, id, ...fields, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: ({ id }) => ({ tenantId, action: 'webhook.created', subjectId: id }),
    // The secret refers to the webhook, which is written by now.
    async wake({ id }, unit) {
      secret = await makeSecret(context, id, unit)
    },
  })
  return { webhook: row, secret }
}

/** Replaces the secret of a webhook, once for each key: the former one signs for a day. */
async function rotate(context: Context, input: RotatePaymentWebhookSecretInput) {
  const { webhookEndpoints, viewer } = context
  const tenantId = activeOrganization(viewer, 'Webhooks')
  const { id, expectedVersion } = input
  let secret: string | null = null
  const webhook = await change(context, {
    of: webhookEndpoints,
    ...{ id, expectedVersion, once: { what: 'rotatePaymentWebhookSecret', tenantId, input } },
    async decide(row, unit) {
      const { now, transaction } = unit
      const former = (await webhookEndpoints.secretsOf(row.id, now, transaction)).flatMap(({ signsUntil }) => (signsUntil ? [signsUntil] : []))
      requireRoomForFormer(former.slice(1), now)
      await webhookEndpoints.replaceSecret(row.id, new Date(now.getTime() + overlapMs), transaction)
      secret = await makeSecret(context, row.id, unit)
      return { rotations: row.rotations + 1 }
    },
    audit: () => ({ tenantId, action: 'webhook.secret_rotated', subjectId: id }),
  })
  return { webhook, secret }
}

async function update(context: Context, input: UpdatePaymentWebhookInput): Promise<PaymentWebhookRow> {
  const tenantId = activeOrganization(context.viewer, 'Webhooks')
  const { id, expectedVersion, url: address, events, description, active } = input
  await context.webhookEndpoints.require(id)
  const url = typeof address === 'string' ? readUrl(address) : undefined
  if (url !== undefined) await requireReach(context.callersWay, url)
  const changes: Partial<PaymentWebhookRow> = {
    ...(url !== undefined && { url }),
    ...(events && { events: readEvents(events, outgoingEvents) }),
    ...(description !== undefined && { description: readDescription(description) }),
    ...(typeof active === 'boolean' && { active, disabledReason: null }),
  }
  return change(context, {
    of: context.webhookEndpoints,
    ...{ id, expectedVersion, once: { what: 'updatePaymentWebhook', tenantId, input } },
    decide: () => changes,
    audit: ({ after }) => ({ tenantId, action: 'webhook.updated', subjectId: after.id, details: { fields: Object.keys(changes) } }),
  })
}

/** @throws CONFLICT, reason ILLEGAL_MOVE, when nothing is sent to this webhook */
function requireActive({ active, disabledReason }: PaymentWebhookRow): void {
  if (active) return
  throw new DomainError('CONFLICT', `Nothing is sent to this webhook. ${disabledReason ?? 'Somebody switched it off.'}`, { reason: 'ILLEGAL_MOVE' })
}

async function test(context: Context, input: TestPaymentWebhookInput): Promise<PaymentWebhookDeliveryRow> {
  const { webhookEndpoints, webhookDeliveries, viewer, outgoing } = context
  const organizationId = activeOrganization(viewer, 'Webhooks')
  const { id: endpointId } = await webhookEndpoints.require(input.id)
  const event = 'webhook.test' as const
  const { row } = await create(context, {
    of: webhookDeliveries,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const endpoint = await webhookEndpoints.lock(endpointId, transaction)
      if (!endpoint) throw new DomainError('NOT_FOUND', `There is no webhook ${endpointId}.`, { field: 'id' })
      requireActive(endpoint)
      const body = bodyOf(event, { webhookId: endpointId }, now)
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      return { organizationId, id, endpointId, event, entityId: endpointId, body, nextAttemptAt: now, ...stamps }
    },
    audit: () => ({ tenantId: organizationId, action: 'webhook.tested', subjectId: endpointId }),
    announce: () => outgoing.wake(),
  })
  return row
}

async function redeliver(context: Context, input: RedeliverPaymentWebhookInput): Promise<PaymentWebhookDeliveryRow> {
  const { webhookEndpoints, webhookDeliveries, viewer, outgoing } = context
  const tenantId = activeOrganization(viewer, 'Webhooks')
  const { id, endpointId } = await webhookDeliveries.require(input.id)
  const endpoint = await webhookEndpoints.require(endpointId)
  return change(context, {
    of: webhookDeliveries,
    ...{ id, once: { what: 'redeliverPaymentWebhook', tenantId, input } },
    decide({ status }, { now }) {
      requireActive(endpoint)
      if (status === 'PENDING') throw new DomainError('CONFLICT', 'It is under way: wait until it is delivered or has failed.', { reason: 'ILLEGAL_MOVE' })
      return { status: 'PENDING' as const, attempts: 0, responseStatus: null, nextAttemptAt: now }
    },
    audit: () => ({ tenantId, action: 'webhook.redelivered', subjectId: endpointId, details: { deliveryId: id } }),
    announce: () => outgoing.wake(),
  })
}

export const webhookResolvers: Resolvers = {
  Query: {
    paymentWebhook: (_, { id }, { webhookEndpoints }) => webhookEndpoints.require(id),
    paymentWebhooks: (_, __, { viewer, webhookEndpoints }) => webhookEndpoints.manyBy('organizationId').load(activeOrganization(viewer, 'Webhooks')),
  },
  Mutation: {
    createPaymentWebhook: (_, { input }, context) => createWebhook(context, input),
    rotatePaymentWebhookSecret: (_, { input }, context) => rotate(context, input),
    updatePaymentWebhook: (_, { input }, context) => update(context, input),
    deletePaymentWebhook: (_, { input: { id, expectedVersion } }, context) =>
      remove(context, {
        ...{ of: context.webhookEndpoints, id, expectedVersion },
        audit: ({ organizationId }) => ({ tenantId: organizationId, action: 'webhook.deleted', subjectId: id }),
      }),
    testPaymentWebhook: (_, { input }, context) => test(context, input),
    redeliverPaymentWebhook: (_, { input }, context) => redeliver(context, input),
  },
  PaymentWebhook: {
    __resolveReference: ({ id }, { webhookEndpoints }) => webhookEndpoints.byId.load(id),
    deliveries: ({ id }, page, { webhookDeliveries }) => webhookDeliveries.page('ofEndpoint', id, page),
  },
  PaymentWebhookDelivery: { __resolveReference: ({ id }, { webhookDeliveries }) => webhookDeliveries.byId.load(id) },
}
