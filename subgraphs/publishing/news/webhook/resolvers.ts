import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { readDescription, readEvents, readUrl, requireReach } from '../../../../platform/outbound/webhooks/address.ts'
import { tryAt } from '../../../../platform/outbound/webhooks/queue.ts'
import { overlapMs, requireRoomForFormer } from '../../../../platform/outbound/webhooks/secrets.ts'
import { bodyOf } from '../../../../platform/outbound/webhooks/send.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { change, create, remove, write } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type {
  ConfirmWebhookEndpointInput,
  CreateWebhookEndpointInput,
  Resolvers,
  RotateWebhookSecretInput,
  UpdateWebhookEndpointInput,
} from '../../resolvers.generated.ts'
import { mostWebhooks, type WebhookEndpointRow, webhookEvents } from '../../stores/news/webhook.ts'
import { keyOf, type WebhookDeliveryRow } from '../../stores/news/webhook-delivery.ts'
import { tellResting } from './resting.ts'
import { isResting, silenceOf } from './rules.ts'

async function createEndpoint(context: Context, input: CreateWebhookEndpointInput) {
  const { brands, webhookEndpoints, viewer } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const words = { url: readUrl(input.url), events: readEvents(input.events, webhookEvents), description: readDescription(input.description) }
  await requireReach(context.callersWay, words.url)
  let secret = ''
  const { row, repeated } = await create(context, {
    of: webhookEndpoints,
    once: input,
    tenantId: brand.organizationId,
    async run({ transaction, now }, id) {
      await brands.requireInUse(brand.id, transaction)
      const most = { inAll: mostWebhooks, aDay: Number.POSITIVE_INFINITY }
      requireQuota(await webhookEndpoints.madeFor(brand.id, transaction), most, 'webhooks of this brand', 'delete one that nobody needs', now)
      const { shown, sealed } = webhookEndpoints.newSecret(id)
      secret = shown
      const { id: brandId, organizationId } = brand
      return { brandId, id, organizationId, ...words, secret: sealed, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'webhook.created', subjectId: id }),
  })
  return { endpoint: row, secret: repeated ? null : secret }
}

/**
 * Keeps the replaced secret while it still signs. @throws RATE_LIMITED when the maximum number of secrets still sign
 */
async function keepFormer({ webhookEndpoints, formerSecrets }: Context, row: WebhookEndpointRow, { now, transaction }: WriteTransaction): Promise<void> {
  const { id, previousSecret, previousUntil } = row
  if (!previousSecret || !previousUntil || previousUntil <= now) return
  const ends = await formerSecrets.ends(row, now, transaction)
  requireRoomForFormer(ends, now)
  await formerSecrets.keep(row, webhookEndpoints.open(id, previousSecret), previousUntil, now, transaction)
}

async function rotate(context: Context, { id, expectedVersion }: RotateWebhookSecretInput) {
  const { brands, webhookEndpoints } = context
  const { brandId } = await webhookEndpoints.require(id)
  let secret = ''
  const endpoint = await change(context, {
    of: webhookEndpoints,
    id,
    expectedVersion,
    before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
    async decide(row, unit) {
      await keepFormer(context, row, unit)
      const { now } = unit
      const { shown, sealed } = webhookEndpoints.newSecret(row.id)
      secret = shown
      return { secret: sealed, previousSecret: row.secret, previousUntil: new Date(now.getTime() + overlapMs) }
    },
    audit: () => ({ tenantId: brandId, action: 'webhook.secret_rotated', subjectId: id }),
  })
  return { endpoint, secret }
}

async function update(context: Context, { id, expectedVersion, ...wanted }: UpdateWebhookEndpointInput): Promise<WebhookEndpointRow> {
  const { brands, webhookEndpoints } = context
  const { brandId } = await webhookEndpoints.require(id)
  const brand = await brands.require(brandId)
  const { organizationId } = brand
  const { url: address, events, description, active } = wanted
  const url = typeof address === 'string' ? readUrl(address) : undefined
  if (url !== undefined) await requireReach(context.callersWay, url)
  return change(context, {
    of: webhookEndpoints,
    id,
    expectedVersion,
    before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
    decide: () => ({
      ...(url !== undefined && { url }),
      ...(events && { events: readEvents(events, webhookEvents) }),
      ...(description !== undefined && { description: readDescription(description) }),
      ...(typeof active === 'boolean' && { active, disabledReason: null, ...(active && { organizationId }) }),
    }),
    audit: ({ after }) => ({ tenantId: brandId, action: 'webhook.changed', subjectId: id, details: { version: after.version } }),
    wake: ({ before, after }, unit) => (isResting(before, brand) && !isResting(after, brand) ? tellResting(context, brand, unit) : undefined),
  })
}

/**
 * Confirms that an address which moved with its brand belongs to the present organization: from then on it receives
 * events.
 */
async function confirm(context: Context, { id, expectedVersion }: ConfirmWebhookEndpointInput): Promise<WebhookEndpointRow> {
  const { brands, webhookEndpoints } = context
  const { brandId } = await webhookEndpoints.require(id)
  const brand = await brands.require(brandId)
  return change(context, {
    of: webhookEndpoints,
    id,
    expectedVersion,
    before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
    decide: ({ organizationId }) => (organizationId === brand.organizationId ? {} : { organizationId: brand.organizationId }),
    audit: ({ after }) => ({ tenantId: brandId, action: 'webhook.confirmed', subjectId: id, details: { version: after.version } }),
    wake: ({ before }, unit) => (isResting(before, brand) ? tellResting(context, brand, unit) : undefined),
  })
}

/** @throws CONFLICT when the endpoint receives no deliveries */
function requireActive(endpoint: WebhookEndpointRow, brand: { readonly organizationId: string }): void {
  const why = silenceOf(endpoint, brand)
  if (why !== null) throw new DomainError('CONFLICT', `Nothing is told to this webhook. ${why}`, { reason: 'ILLEGAL_MOVE' })
}

async function test(context: Context, id: string): Promise<WebhookDeliveryRow> {
  const { brands, webhookEndpoints, webhookDeliveries, jobs, viewer } = context
  const { brandId } = await webhookEndpoints.require(id)
  const brand = await brands.require(brandId)
  return write(context, {
    async run({ transaction, now }) {
      await brands.requireInUse(brandId, transaction)
      const endpoint = await webhookEndpoints.lock(id, transaction)
      if (!endpoint) throw new DomainError('NOT_FOUND', `There is no webhook ${id}.`, { field: 'id' })
      requireActive(endpoint, brand)
      const event = 'webhook.test'
      const row = { brandId, id: newId(now), endpointId: endpoint.id, event, body: bodyOf(event, { brandId }, now), nextAttemptAt: now }
      const made = await webhookDeliveries.insert({ ...row, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }, transaction)
      await tryAt(jobs, keyOf(made), now, transaction)
      return made
    },
    audit: () => ({ tenantId: brandId, action: 'webhook.tested', subjectId: id }),
  })
}

async function redeliver(context: Context, id: string): Promise<WebhookDeliveryRow> {
  const { brands, webhookEndpoints, webhookDeliveries, jobs } = context
  const { brandId, endpointId } = await webhookDeliveries.require(id)
  const [brand, endpoint] = [await brands.require(brandId), await webhookEndpoints.require(endpointId)]
  return change(context, {
    of: webhookDeliveries,
    id,
    before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
    decide({ status }, { now }) {
      requireActive(endpoint, brand)
      if (status === 'PENDING') throw new DomainError('CONFLICT', 'It is under way: wait until it is delivered or has failed.', { reason: 'ILLEGAL_MOVE' })
      return { status: 'PENDING' as const, attempts: 0, responseStatus: null, nextAttemptAt: now }
    },
    audit: () => ({ tenantId: brandId, action: 'webhook.redelivered', subjectId: endpointId, details: { deliveryId: id } }),
    wake: ({ after }, { transaction, now }) => tryAt(jobs, keyOf(after), now, transaction),
  })
}

export const webhookResolvers: Resolvers = {
  Query: {
    webhookEndpoint: (_, { id }, { webhookEndpoints }) => webhookEndpoints.require(id),
    async webhookEndpoints(_, { brandId }, { brands, webhookEndpoints }) {
      const { id } = await brands.require(brandId, 'brandId')
      return webhookEndpoints.manyBy('brandId').load(id)
    },
  },
  Mutation: {
    createWebhookEndpoint: (_, { input }, context) => createEndpoint(context, input),
    rotateWebhookSecret: (_, { input }, context) => rotate(context, input),
    updateWebhookEndpoint: (_, { input }, context) => update(context, input),
    confirmWebhookEndpoint: (_, { input }, context) => confirm(context, input),
    async deleteWebhookEndpoint(_, { input: { id, expectedVersion } }, context) {
      const { brands, webhookEndpoints } = context
      const { brandId } = await webhookEndpoints.require(id)
      const brand = await brands.require(brandId)
      return remove(context, {
        of: webhookEndpoints,
        id,
        expectedVersion,
        before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
        audit: () => ({ tenantId: brandId, action: 'webhook.deleted', subjectId: id }),
        wake: (row, unit) => (isResting(row, brand) ? tellResting(context, brand, unit) : undefined),
      })
    },
    testWebhookEndpoint: (_, { input }, context) => test(context, input.id),
    redeliverWebhook: (_, { input }, context) => redeliver(context, input.id),
  },
  WebhookEndpoint: {
    __resolveReference: ({ id }, { webhookEndpoints }) => webhookEndpoints.byId.load(id),
    state: async (endpoint, _, { brands }) =>
      isResting(endpoint, (await brands.byId.load(endpoint.brandId))!) ? 'RESTING' : endpoint.active ? 'ACTIVE' : 'INACTIVE',
    active: async (endpoint, _, { brands }) => silenceOf(endpoint, (await brands.byId.load(endpoint.brandId))!) === null,
    disabledReason: async (endpoint, _, { brands }) =>
      endpoint.active ? silenceOf(endpoint, (await brands.byId.load(endpoint.brandId))!) : endpoint.disabledReason,
    deliveries: ({ id }, page, { webhookDeliveries }) => webhookDeliveries.page('ofEndpoint', id, page),
  },
  WebhookDelivery: { __resolveReference: ({ id }, { webhookDeliveries }) => webhookDeliveries.byId.load(id) },
}
