import { NotReady } from '../../platform/errors.ts'
import { retention } from '../../platform/jobs/retention.ts'
import { createTurns } from '../../platform/jobs/turns.ts'
import { createLimit } from '../../platform/limit.ts'
import { recordingOf } from '../store/books.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import { createKeyCheck } from '../store/key-check.ts'
import type { Telling } from '../store/tell.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { executableSchema } from '../wiring/executable.ts'
import { brandResolvers } from './brand/resolvers.ts'
import { tellOfGroups } from './connection/groups.ts'
import { resyncConnections } from './connection/health.ts'
import { integrationResolvers } from './connection/integration/resolvers.ts'
import { connectionResolvers } from './connection/resolvers.ts'
import { deletions } from './connection/revocation/deletion.ts'
import { caring } from './connection/sweep.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { sendComment } from './delivery/comment.ts'
import { deliver } from './delivery/deliver.ts'
import { tellOfFailedBefore } from './delivery/failed-before.ts'
import { renewalsEnded } from './delivery/renewal.ts'
import { deliveryResolvers } from './delivery/resolvers.ts'
import { agingOf, type Retention } from './delivery/retention.ts'
import { sweeps } from './delivery/sweep.ts'
import { commentQueue, deliverQueue } from './delivery/wake-up.ts'
import { createReceiving } from './engines/media/receiving.ts'
import { handle, streamedPaths } from './http.ts'
import { figuresSweep, followersSweep } from './insight/analytics/collect.ts'
import { analyticsResolvers } from './insight/analytics/resolvers.ts'
import { daySumsSweep } from './insight/analytics/sum-up.ts'
import { dashboardResolvers } from './insight/dashboard/resolvers.ts'
import { widgetResolvers } from './insight/widget/resolvers.ts'
import { mediaAssetResolvers } from './media/asset/resolvers.ts'
import { turnsOfPictures } from './media/file/picture.ts'
import { mediaFolderResolvers } from './media/folder/resolvers.ts'
import { imageRequests } from './media/image/generate.ts'
import { imageResolvers } from './media/image/resolvers.ts'
import { mediaSweeps, prepareQueue } from './media/prepare.ts'
import { trendResolvers } from './media/trend/resolvers.ts'
import { turnsOfOriginals } from './media/variant/variant.ts'
import { openApplications } from './network/account/applications.ts'
import { countDrift, measureDelivery } from './network/figures.ts'
import { type Applications, loadAdapters, type NetworkPlaces } from './network/networks.ts'
import { announceActivity, resyncActivity } from './news/activity/announce.ts'
import { activityResolvers } from './news/activity/resolvers.ts'
import { resyncPosts } from './news/announce.ts'
import { received } from './news/received.ts'
import { webhookJobs } from './news/webhook/deliver.ts'
import { webhookResolvers } from './news/webhook/resolvers.ts'
import { keepEvents } from './news/webhook/told.ts'
import { calendarResolvers } from './planning/calendar/resolvers.ts'
import { campaignResolvers } from './planning/campaign/resolvers.ts'
import { approvalResolvers } from './post/approval/resolvers.ts'
import { bulkResolvers } from './post/bulk/resolvers.ts'
import { composeResolvers } from './post/compose/resolvers.ts'
import { importResolvers } from './post/import/resolvers.ts'
import { turnsOfTexts } from './post/problems.ts'
import { postResolvers } from './post/resolvers.ts'
import { threadResolvers } from './post/thread/resolvers.ts'
import { versionResolvers } from './post/version/resolvers.ts'
import { registration } from './registration.ts'

/** What publishing is told by configuration. */
export interface PublishingSettings {
  /** Ours at networks: where none is, the gateway to providers may keep one. */
  readonly applications: Applications
  readonly whereabouts: NetworkPlaces
  readonly quotas: Quotas
  readonly retention: Retention
}

const adapters = await loadAdapters()

/** Publishing: brands, their posts and connections, and the delivery of posts to networks. */
export function define(foundation: Foundation, settings: PublishingSettings): Subgraph<Context> & { job(actor?: string): Job } {
  const { ask, call, cipher, clock, environment, events, openJobs, outbound, callersWay, publicUrl, sequelize, storage } = foundation
  const log = foundation.log.child({ subgraph: registration.slug })
  const { applications: configured, whereabouts } = settings
  const applications = openApplications({ adapters, configured, whereabouts, call, clock, log, outbound })
  /** What delivery works with, made anew for each piece of work. */
  const job = (actor = 'delivery') => contexts.everybodys(actor)
  const facts: Facts = openFacts(foundation, { slug: 'publishing', received, job: () => job('facts'), log })
  const webhooks = webhookJobs(() => job('webhooks'), { clock, log })
  const jobs = openJobs({
    slug: registration.slug,
    queues: [deliverQueue(key => deliver(job(), key)), commentQueue(key => sendComment(job(), key)), prepareQueue(job), webhooks.queue],
    sweeps: [
      ...sweeps(job),
      caring(job),
      deletions(() => job('deletion')),
      ...mediaSweeps(job),
      webhooks.sweep,
      figuresSweep(() => job('figures')),
      followersSweep(() => job('figures')),
      daySumsSweep(() => job('figures')),
      { name: 'parts of words', everyMs: 3_600_000, run: () => job('search').rareParts.learn() },
      ...facts.sweeps,
      retention(foundation, [...agingOf(settings.retention), ...facts.aging]),
    ],
    log,
  })
  const services: Services = {
    ask,
    call,
    events,
    clock,
    publicUrl,
    outbound,
    storage: storage('publishing'),
    signatures: cipher,
    callersWay,
    receiving: createReceiving(),
    turns: createTurns(turnsOfPictures),
    originals: createTurns(turnsOfOriginals),
    texts: createTurns(turnsOfTexts),
    drawing: createLimit(imageRequests),
    findingTrends: new Map(),
    environment,
    applications,
    networks: applications.networks,
    deliveries: measureDelivery(foundation.metrics),
    sumsThatDrifted: countDrift(foundation.metrics),
    quotas: settings.quotas,
    jobs,
    log,
    keys: createKeyCheck(sequelize, {
      table: 'publishing.connections',
      columns: [
        { column: 'access_token', open: (id, sealed) => job().connections.open({ id, accessToken: sealed, refreshToken: null }) },
        { column: 'refresh_token', open: (id, sealed) => job().connections.open({ id, accessToken: null, refreshToken: sealed }) },
        { column: 'place_tokens', open: (id, sealed) => job().connections.open({ id, accessToken: null, refreshToken: null, placeTokens: sealed }) },
      ],
      consequence: 'accounts cannot be used, and posts wait: tokens were',
      log,
    }),
    renewals: new Map(),
    afterRenewals: new Set(),
  }
  const webhookKeys = createKeyCheck(sequelize, {
    table: 'publishing.webhook_endpoints',
    columns: [
      { column: 'secret', open: (id, sealed) => job().webhookEndpoints.open(id, sealed) },
      { column: 'previous_secret', open: (id, sealed) => job().webhookEndpoints.open(id, sealed) },
    ],
    consequence: 'webhooks cannot be signed, and wait: secrets were',
    log,
  })
  const formerKeys = createKeyCheck(sequelize, {
    table: 'publishing.webhook_former_secrets',
    columns: [{ column: 'secret', open: (id, sealed) => job().formerSecrets.open(id, sealed) }],
    consequence: 'webhooks cannot be signed, and wait: former secrets were',
    log,
  })
  const telling: Telling = { ...facts, keep: (made, now, transaction) => keepEvents(job('webhooks'), made, now, transaction) }
  const contexts = contextsOf(registration.slug, stores(cipher), services, foundation, telling, 'organization', {
    ...recordingOf(registration.slug),
    recorded: entry => announceActivity(events, entry),
  })
  resyncActivity(events, (brandId, since) => job().activities.since(brandId, since))
  resyncConnections(events, (organizationId, since) => job().connections.changedSince(organizationId, since))
  resyncPosts(events, (brandId, since) => job().posts.changedSince(brandId, since))
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
      dashboard: dashboardResolvers,
      analytics: analyticsResolvers,
      campaign: campaignResolvers,
      calendar: calendarResolvers,
      activity: activityResolvers,
      webhook: webhookResolvers,
      image: imageResolvers,
      trend: trendResolvers,
    }),
    open: contexts.open,
    http: (request, viewer) => handle(job(), request, viewer, () => contexts.forRequest(viewer, request)),
    streams: streamedPaths,
    receive: facts.receive,
    async start() {
      await jobs.start()
      await tellOfGroups(job('start')).catch(error => log.error({ err: error }, 'marking groups that accept no posts failed; the next start retries'))
      await tellOfFailedBefore(() => job()).catch(error =>
        log.error({ err: error }, 'facts about posts that failed earlier could not be published; the next start retries'),
      )
      // Told at once, and no reason not to start: readiness says it as long as it is so.
      await Promise.all([services.keys.check(), webhookKeys.check(), formerKeys.check()]).catch(
        error => error instanceof NotReady || log.error({ err: error }, 'encryption keys in use could not be checked'),
      )
    },
    async ready() {
      await Promise.all([jobs.check(), services.keys.check(), webhookKeys.check(), formerKeys.check()])
      return facts.lying()
    },
    // A network hands a renewed token out once: what is under way is kept before the pools close.
    stop: async () => void (await Promise.all([jobs.stop(), facts.stop(), renewalsEnded(services)])),
  }
}
