import { retention } from '../../platform/jobs/retention.ts'
import { executableSchema } from '../executable.ts'
import { agingOfKeys } from '../store/books.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { OrganizationNameDocument } from './ask.generated.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { handle } from './http.ts'
import { ledgerResolvers } from './ledger/resolvers.ts'
import { orderResolvers } from './order/resolvers.ts'
import { received } from './received.ts'
import { registration } from './registration.ts'
import { type Addresses, serviceIdentity } from './service-identity/answer.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** What payments is told by configuration. */
export interface PaymentsSettings {
  readonly quotas: Quotas
  readonly addresses: Addresses
}

/** What a merchant is called whose organization's name cannot be had: a person may change it. */
const namelessMerchant = 'Default merchant'

/** Payments: orders, and what becomes of them. */
export function define(foundation: Foundation, { quotas, addresses }: PaymentsSettings): Subgraph<Context> & { job(actor: string): Job } {
  const { ask, call, clock, environment, events, openJobs } = foundation
  const { slug, appId } = registration
  const log = foundation.log.child({ subgraph: slug })
  // The record and the ledger are for ever; what a key has made is remembered for a month.
  const facts: Facts = openFacts(foundation, { slug: 'payments', received, job: () => contexts.everybodys('facts'), log })
  const jobs = openJobs({ slug, queues: [], sweeps: [...facts.sweeps, retention(foundation, [agingOfKeys(slug, 30), ...facts.aging])], log })
  const services: Services = {
    events,
    quotas,
    nameOf: async viewer => {
      const { viewer: known } = await ask(OrganizationNameDocument, {}, { appId, viewer })
      return known?.organization?.name ?? namelessMerchant
    },
  }
  const contexts = contextsOf(slug, stores, services, foundation, facts)
  const identity = serviceIdentity(ask, clock, environment, addresses)
  return {
    registration,
    job: contexts.everybodys,
    schema: executableSchema(slug, { ledger: ledgerResolvers, order: orderResolvers, widget: widgetResolvers }),
    open: contexts.open,
    http: (request, viewer) => handle({ identity, addresses, call }, request, viewer),
    receive: facts.receive,
    start: jobs.start,
    async ready() {
      await jobs.check()
      return facts.lying()
    },
    stop: async () => void (await Promise.all([jobs.stop(), facts.stop()])),
  }
}
