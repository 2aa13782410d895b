import type { ServiceClients } from '../authority.ts'
import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun, type Running } from '../wiring/define.ts'
import { administrationNouns } from './administration/nouns.ts'
import { received } from './administration/received.ts'
import { aiNouns } from './ai/nouns.ts'
import { callNouns } from './call/nouns.ts'
import { stores } from './context.ts'
import { credential } from './credential/noun.ts'
import { emailNouns } from './email/nouns.ts'
import { model } from './model/noun.ts'
import { processorNouns } from './processor/resolvers.ts'
import { type ProvidersSettings, registration } from './registration.ts'
import { type Opened, services } from './services.ts'
import { spend } from './spend/noun.ts'
import { videoPaths } from './video/handler.ts'
import { video } from './video/noun.ts'

type At = Running<ReturnType<typeof stores>, Opened, ProvidersSettings>

const nouns: Readonly<Record<string, Noun<At>>> = {
  credential,
  model,
  spend,
  video,
  ...administrationNouns,
  ...aiNouns,
  ...callNouns,
  ...emailNouns,
  ...processorNouns,
}

/** Defines providers: the gateway to third parties for the whole platform. */
export function define(foundation: Foundation, settings: ProvidersSettings) {
  const plan = { registration, stores: stores(foundation.cipher), services, received, nouns, slowPolling: true, streams: videoPaths }
  const subgraph = defineSubgraph(foundation, settings, plan)
  const { serviceClients }: ServiceClients = subgraph.at.services.clients
  return { ...subgraph, serviceClients }
}
