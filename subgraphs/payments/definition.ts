import { retention } from '../../platform/jobs/retention.ts'
import { agingOfKeys } from '../store/books.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { executableSchema } from '../wiring/executable.ts'
import { auditResolvers } from './admin/audit/resolvers.ts'
import { settingsResolvers } from './admin/settings/resolvers.ts'
import { KeyMakerDocument, OrganizationNameDocument } from './ask.generated.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { resyncOrders } from './engines/payment/announce.ts'
import { janitor, lapses } from './engines/payment/janitor.ts'
import { keepUnderway } from './engines/payment/underway.ts'
import { handle } from './http/handle.ts'
import { type Addresses, serviceIdentity } from './http/service-identity.ts'
import { ledgerResolvers } from './ledger/resolvers.ts'
import { orderResolvers } from './order/resolvers.ts'
import { customerResolvers } from './parties/customer/resolvers.ts'
import { merchantResolvers } from './parties/merchant/resolvers.ts'
import { paymentMethodResolvers } from './parties/payment-method/resolvers.ts'
import { venueResolvers } from './parties/venue/resolvers.ts'
import { processorBy } from './processor.ts'
import { received } from './received.ts'
import { refundResolvers } from './refund/resolvers.ts'
import { registration } from './registration.ts'
import { auditRecording } from './stores/admin/audit-entry.ts'
import { transactionResolvers } from './transaction/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** What payments is told by configuration. */
export interface PaymentsSettings {
  readonly quotas: Quotas
  readonly addresses: Addresses
}

/** For how long an answer waits for the processor, in ms. */
const answersWithinMs = 8_000
/** For how long calls that are under way are waited for at the end, in ms: others find what is left. */
const lastMs = 5_000

/** What a merchant is called whose organization's name cannot be had: a person may change it. */
const namelessMerchant = 'Default merchant'

/** Payments: orders, and what becomes of them. */
export function define(foundation: Foundation, { quotas, addresses }: PaymentsSettings): Subgraph<Context> & { job(actor: string): Job } {
  const { ask, call, clock, environment, events, openJobs, publicUrl } = foundation
  const { slug, appId } = registration
  const log = foundation.log.child({ subgraph: slug })
  // The record and the ledger are for ever; what a key has made is remembered for a month.
  const facts: Facts = openFacts(foundation, { slug: 'payments', received, job: () => contexts.everybodys('facts'), log })
  const jobs = openJobs({
    slug,
    queues: [],
    sweeps: [
      janitor(() => contexts.everybodys('janitor')),
      lapses(() => contexts.everybodys('janitor')),
      ...facts.sweeps,
      retention(foundation, [agingOfKeys(slug, 30), ...facts.aging]),
    ],
    log,
  })
  const services: Services = {
    ...{ ask, clock, events, log, publicUrl, quotas },
    processor: processorBy(ask),
    answersWithinMs,
    underway: keepUnderway(error => log.error({ err: error }, 'an outcome could not be recorded; the processor is asked again when the lease is over')),
    jobFor: actor => contexts.everybodys(actor),
    makerOf: async (id, organizationId) => {
      const viewer = { userId: null, organizationId, roles: [], scopes: [], context: 'organization' as const }
      return (await ask(KeyMakerDocument, { id }, { appId, viewer })).apiKeyMaker
    },
    nameOf: async viewer => {
      const { viewer: known } = await ask(OrganizationNameDocument, {}, { appId, viewer })
      return known?.organization?.name ?? namelessMerchant
    },
  }
  const contexts = contextsOf(slug, stores, services, foundation, facts, 'organization', auditRecording)
  resyncOrders(events, (organizationId, since) => contexts.everybodys('events').orders.changedSince(organizationId, since))
  const identity = serviceIdentity(ask, clock, environment, addresses)
  return {
    registration,
    job: contexts.everybodys,
    schema: executableSchema(slug, {
      audit: auditResolvers,
      customer: customerResolvers,
      ledger: ledgerResolvers,
      merchant: merchantResolvers,
      order: orderResolvers,
      paymentMethod: paymentMethodResolvers,
      refund: refundResolvers,
      settings: settingsResolvers,
      transaction: transactionResolvers,
      venue: venueResolvers,
      widget: widgetResolvers,
    }),
    open: contexts.open,
    http: (request, viewer) => handle({ identity, addresses, call }, request, viewer),
    receive: facts.receive,
    start: jobs.start,
    async ready() {
      await jobs.check()
      return facts.lying()
    },
    stop: async () => void (await Promise.all([jobs.stop(), facts.stop(), services.underway.ended(lastMs)])),
  }
}
