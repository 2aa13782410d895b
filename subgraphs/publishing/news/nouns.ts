import { createKeyCheck } from '../../store/key-check.ts'
import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { resyncActivity } from './activity/announce.ts'
import { activityResolvers } from './activity/resolvers.ts'
import type { webhookJobs } from './webhook/deliver.ts'
import { webhookResolvers } from './webhook/resolvers.ts'

interface At extends Base<Job, unknown> {
  readonly services: { readonly webhooks: ReturnType<typeof webhookJobs> }
}

/** Resolvers, queues and sweeps for a brand's activity and for webhooks. */
export const newsNouns: Readonly<Record<string, Noun<At>>> = {
  activity: {
    resolvers: activityResolvers,
    resync: ({ foundation: { events }, job }) => resyncActivity(events, (brandId, since) => job('delivery').activities.since(brandId, since)),
  },
  webhook: {
    resolvers: webhookResolvers,
    queues: ({ services: { webhooks } }) => [webhooks.queue],
    sweeps: ({ services: { webhooks } }) => [webhooks.sweep],
    readiness: at => [keysOfEndpoints(at), keysOfFormerSecrets(at)],
  },
}

const keysOfEndpoints = ({ foundation: { sequelize }, job, log }: At) =>
  createKeyCheck(sequelize, {
    table: 'publishing.webhook_endpoints',
    columns: [
      { column: 'secret', open: (id, sealed) => job('keys').webhookEndpoints.open(id, sealed) },
      { column: 'previous_secret', open: (id, sealed) => job('keys').webhookEndpoints.open(id, sealed) },
    ],
    consequence: 'webhooks cannot be signed, and wait: secrets were',
    log,
  })

const keysOfFormerSecrets = ({ foundation: { sequelize }, job, log }: At) =>
  createKeyCheck(sequelize, {
    table: 'publishing.webhook_former_secrets',
    columns: [{ column: 'secret', open: (id, sealed) => job('keys').formerSecrets.open(id, sealed) }],
    consequence: 'webhooks cannot be signed, and wait: former secrets were',
    log,
  })
