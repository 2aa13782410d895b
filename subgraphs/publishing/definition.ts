import { NotReady } from '../../platform/errors.ts'
import { retention } from '../../platform/jobs/retention.ts'
import { executableSchema } from '../executable.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { createAudit } from './audit.ts'
import { brandResolvers } from './brand/resolvers.ts'
import { createBrandStore } from './brand/store.ts'
import { createKeyCheck } from './connection/keys.ts'
import { connectionResolvers } from './connection/resolvers.ts'
import { createConnectionStore } from './connection/store.ts'
import { type Context, openContext } from './context.ts'
import { deliver } from './delivery/deliver.ts'
import { renewalsEnded } from './delivery/renewal.ts'
import { deliveryResolvers } from './delivery/resolvers.ts'
import { agingOf, type Retention } from './delivery/retention.ts'
import { createDeliveryStore } from './delivery/store.ts'
import { sweeps } from './delivery/sweep.ts'
import { deliverQueue } from './delivery/wake-up.ts'
import { handle } from './http.ts'
import { integrationResolvers } from './integration/resolvers.ts'
import { createAuthorizationStore } from './integration/store.ts'
import type { Networks } from './network/network.ts'
import type { XSettings } from './network/x/oauth.ts'
import { createX } from './network/x/x.ts'
import { postResolvers } from './post/resolvers.ts'
import { createPostStore } from './post/store.ts'
import { registration } from './registration.ts'
import type { Quotas, Room } from './room.ts'
import { widgetResolvers } from './widget/resolvers.ts'
import { createWidgetStore } from './widget/store.ts'

/** What publishing is told by configuration. */
export interface PublishingSettings {
  /** Null: no application of ours at X, so it cannot be connected. */
  readonly x: XSettings | null
  readonly quotas: Quotas
  readonly retention: Retention
}

/** Publishing: brands, their posts and connections, and the delivery of posts to networks. */
export function define(foundation: Foundation, settings: PublishingSettings): Subgraph<Context> & { readonly room: Room } {
  const { sequelize, cipher, outbound, openJobs } = foundation
  const log = foundation.log.child({ subgraph: registration.slug })
  const networks: Networks = new Map(settings.x ? [['X', createX(settings.x, outbound)]] : [])
  const posts = createPostStore(sequelize)
  const connections = createConnectionStore(sequelize, cipher)
  const jobs = openJobs({
    slug: registration.slug,
    queues: [deliverQueue(key => deliver(room, key))],
    sweeps: [...sweeps(() => room), retention(foundation, agingOf(settings.retention))],
    log,
  })
  const room: Room = {
    ...foundation,
    networks,
    quotas: settings.quotas,
    jobs,
    log,
    audit: createAudit(sequelize),
    renewals: new Map(),
    brands: createBrandStore(sequelize),
    posts,
    connections,
    keys: createKeyCheck(sequelize, connections, log),
    deliveries: createDeliveryStore(sequelize, posts),
    authorizations: createAuthorizationStore(sequelize, cipher),
    widget: createWidgetStore(sequelize),
    afterRenewals: new Set(),
  }
  return {
    registration,
    room,
    schema: executableSchema('publishing', {
      brand: brandResolvers,
      post: postResolvers,
      delivery: deliveryResolvers,
      connection: connectionResolvers,
      integration: integrationResolvers,
      widget: widgetResolvers,
    }),
    open: (viewer, operation) => openContext(room, viewer, operation),
    http: (request, viewer) => handle(room, request, viewer),
    async start() {
      await jobs.start()
      // Told at once, and no reason not to start: readiness says it as long as it is so.
      await room.keys.check().catch(error => error instanceof NotReady || log.error({ err: error }, 'the keys in use could not be looked at'))
    },
    ready: async () => void (await Promise.all([jobs.check(), room.keys.check()])),
    // A network hands a renewed token out once: what is under way is kept before the pools close.
    stop: async () => void (await Promise.all([jobs.stop(), renewalsEnded(room)])),
  }
}
