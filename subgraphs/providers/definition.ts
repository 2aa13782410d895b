import { NotReady } from '../../platform/errors.ts'
import { retention } from '../../platform/jobs/retention.ts'
import { createReaches } from '../../platform/outbound.ts'
import { executableSchema } from '../executable.ts'
import { agingOfKeys, agingOfRecord } from '../store/books.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import { createKeyCheck } from '../store/key-check.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { credentialResolvers } from './credential/resolvers.ts'
import { received } from './received.ts'
import { registration } from './registration.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** What providers is told by configuration. */
export interface ProvidersSettings {
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
  /** Origins that may lie on a private address. */
  readonly allowedOrigins: readonly string[]
}

/** Providers: what third parties are called with, for the whole platform. */
export function define(
  foundation: Foundation,
  { quotas, retention: { auditDays }, allowedOrigins }: ProvidersSettings,
): Subgraph<Context> & { job(actor: string): Job } {
  const { cipher, events, openJobs, publicUrl, sequelize } = foundation
  const { slug } = registration
  const log = foundation.log.child({ subgraph: slug })
  const facts: Facts = openFacts(foundation, { slug: 'providers', received, job: () => contexts.everybodys('facts'), log })
  const jobs = openJobs({
    slug,
    queues: [],
    sweeps: [...facts.sweeps, retention(foundation, [agingOfRecord(slug, auditDays), agingOfKeys(slug), ...facts.aging])],
    log,
  })
  const services: Services = { events, publicUrl, quotas, reaches: createReaches(allowedOrigins) }
  const contexts = contextsOf(slug, stores(cipher), services, foundation, facts)
  const keys = createKeyCheck(sequelize, {
    table: 'providers.credentials',
    columns: [{ column: 'secret', open: (id, secret) => contexts.everybodys('keys').credentials.open({ id, secret }) }],
    consequence: 'credentials of providers cannot be used: their secrets were',
    log,
  })
  return {
    registration,
    job: contexts.everybodys,
    schema: executableSchema(slug, { credential: credentialResolvers, widget: widgetResolvers }),
    open: contexts.open,
    receive: facts.receive,
    async start() {
      await jobs.start()
      // Told at once, and no reason not to start: readiness says it as long as it is so.
      await keys.check().catch(error => error instanceof NotReady || log.error({ err: error }, 'the keys in use could not be looked at'))
    },
    async ready() {
      await Promise.all([jobs.check(), keys.check()])
      return facts.lying()
    },
    stop: async () => void (await Promise.all([jobs.stop(), facts.stop()])),
  }
}
