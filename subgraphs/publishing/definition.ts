import { NotReady } from '../../platform/errors.ts'
import { retention } from '../../platform/jobs/retention.ts'
import { executableSchema } from '../executable.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import { createKeyCheck } from '../store/key-check.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { brandResolvers } from './brand/resolvers.ts'
import { integrationResolvers } from './connection/integration/resolvers.ts'
import { connectionResolvers } from './connection/resolvers.ts'
import { deletions } from './connection/revocation/deletion.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { deliver } from './delivery/deliver.ts'
import { tellOfFailedBefore } from './delivery/failed-before.ts'
import { renewalsEnded } from './delivery/renewal.ts'
import { deliveryResolvers } from './delivery/resolvers.ts'
import { agingOf, type Retention } from './delivery/retention.ts'
import { sweeps } from './delivery/sweep.ts'
import { deliverQueue } from './delivery/wake-up.ts'
import { handle, streamedPaths } from './http.ts'
import { mediaAssetResolvers } from './media/asset/resolvers.ts'
import { mediaFolderResolvers } from './media/folder/resolvers.ts'
import { mediaSweeps, prepareQueue } from './media/prepare.ts'
import { measureDelivery } from './network/figures.ts'
import { type Applications, loadAdapters, openNetworks } from './network/networks.ts'
import { lookAgainAtPosts } from './news/announce.ts'
import { received } from './news/received.ts'
import { approvalResolvers } from './post/approval/resolvers.ts'
import { bulkResolvers } from './post/bulk/resolvers.ts'
import { composeResolvers } from './post/compose/resolvers.ts'
import { importResolvers } from './post/import/resolvers.ts'
import { postResolvers } from './post/resolvers.ts'
import { threadResolvers } from './post/thread/resolvers.ts'
import { versionResolvers } from './post/version/resolvers.ts'
import { registration } from './registration.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** What publishing is told by configuration. */
export interface PublishingSettings {
  /** A network without an application of ours cannot be connected. */
  readonly applications: Applications
  readonly quotas: Quotas
  readonly retention: Retention
}

const adapters = await loadAdapters()

/** Publishing: brands, their posts and connections, and the delivery of posts to networks. */
export function define(foundation: Foundation, settings: PublishingSettings): Subgraph<Context> & { job(actor?: string): Job } {
  const { ask, cipher, clock, events, openJobs, outbound, publicUrl, sequelize, storage } = foundation
  const log = foundation.log.child({ subgraph: registration.slug })
  const networks = openNetworks(adapters, settings.applications, outbound)
  /** What delivery works with, made anew for each piece of work. */
  const job = (actor = 'delivery') => contexts.everybodys(actor)
  const facts: Facts = openFacts(foundation, { slug: 'publishing', received, job: () => job('facts'), log })
  const jobs = openJobs({
    slug: registration.slug,
    queues: [deliverQueue(key => deliver(job(), key)), prepareQueue(job)],
    sweeps: [
      ...sweeps(job),
      deletions(() => job('deletion')),
      ...mediaSweeps(job),
      ...facts.sweeps,
      retention(foundation, [...agingOf(settings.retention), ...facts.aging]),
    ],
    log,
  })
  const services: Services = {
    ask,
    events,
    clock,
    publicUrl,
    outbound,
    storage: storage('publishing'),
    signatures: cipher,
    networks,
    deliveries: measureDelivery(foundation.metrics),
    quotas: settings.quotas,
    jobs,
    log,
    keys: createKeyCheck(sequelize, {
      table: 'publishing.connections',
      columns: [
        { column: 'access_token', open: (id, sealed) => job().connections.open({ id, accessToken: sealed, refreshToken: null }) },
        { column: 'refresh_token', open: (id, sealed) => job().connections.open({ id, accessToken: null, refreshToken: sealed }) },
      ],
      consequence: 'accounts cannot be used, and posts wait: tokens were',
      log,
    }),
    renewals: new Map(),
    afterRenewals: new Set(),
  }
  const contexts = contextsOf(registration.slug, stores(cipher), services, foundation, facts)
  lookAgainAtPosts(events, (brandId, since) => job().posts.changedSince(brandId, since))
  return {
    registration,
    job,
    schema: executableSchema('publishing', {
      brand: brandResolvers,
      post: postResolvers,
      approval: approvalResolvers,
      compose: composeResolvers,
      thread: threadResolvers,
      version: versionResolvers,
      bulk: bulkResolvers,
      import: importResolvers,
      delivery: deliveryResolvers,
      connection: connectionResolvers,
      integration: integrationResolvers,
      widget: widgetResolvers,
      mediaAsset: mediaAssetResolvers,
      mediaFolder: mediaFolderResolvers,
    }),
    open: contexts.open,
    http: (request, viewer) => handle(job(), request, viewer, () => contexts.forRequest(viewer, request)),
    streams: streamedPaths,
    receive: facts.receive,
    async start() {
      await jobs.start()
      await tellOfFailedBefore(() => job()).catch(error =>
        log.error({ err: error }, 'posts that had failed before were not told of; the next start tries again'),
      )
      // Told at once, and no reason not to start: readiness says it as long as it is so.
      await services.keys.check().catch(error => error instanceof NotReady || log.error({ err: error }, 'the keys in use could not be looked at'))
    },
    async ready() {
      await Promise.all([jobs.check(), services.keys.check()])
      return facts.lying()
    },
    // A network hands a renewed token out once: what is under way is kept before the pools close.
    stop: async () => void (await Promise.all([jobs.stop(), facts.stop(), renewalsEnded(services)])),
  }
}
