import { recordingOf } from '../store/books.ts'
import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun, type Plan, type Running } from '../wiring/define.ts'
import { brandResolvers } from './brand/resolvers.ts'
import { connectionNouns } from './connection/nouns.ts'
import { stores } from './context.ts'
import { delivery } from './delivery/resolvers.ts'
import { handle, streamedPaths } from './insight/http.ts'
import { insightNouns } from './insight/nouns.ts'
import { mediaNouns } from './media/nouns.ts'
import { announceActivity } from './news/activity/announce.ts'
import { newsNouns } from './news/nouns.ts'
import { received } from './news/received.ts'
import { keepEvents } from './news/webhook/told.ts'
import { planningNouns } from './planning/nouns.ts'
import { postNouns } from './post/nouns.ts'
import { type PublishingSettings, registration } from './registration.ts'
import { type Opened, services } from './services.ts'

type Stores = ReturnType<typeof stores>

const nouns: Readonly<Record<string, Noun<Running<Stores, Opened, PublishingSettings>>>> = {
  brand: { resolvers: brandResolvers },
  ...connectionNouns,
  delivery,
  ...postNouns,
  ...mediaNouns,
  ...insightNouns,
  ...planningNouns,
  ...newsNouns,
}

/** Defines publishing: brands, their posts and connections, and the delivery of posts to networks. */
export function define(foundation: Foundation, settings: PublishingSettings) {
  const plan: Plan<Stores, Opened, PublishingSettings> = {
    registration,
    stores: stores(foundation.cipher),
    services,
    received,
    nouns,
    streams: streamedPaths,
    recording: ({ foundation: { events } }) => ({ ...recordingOf(registration.slug), recorded: entry => announceActivity(events, entry) }),
    factWriting: (facts, { job }) => ({ ...facts, keep: (made, now, transaction) => keepEvents(job('webhooks'), made, now, transaction) }),
    http:
      ({ job, contexts }) =>
      (request, viewer) =>
        handle(job('delivery'), request, viewer, () => contexts.forRequest(viewer, request)),
  }
  const subgraph = defineSubgraph(foundation, settings, plan)
  return { ...subgraph, job: (actor = 'delivery') => subgraph.job(actor) }
}
