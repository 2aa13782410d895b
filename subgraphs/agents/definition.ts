import { retention } from '../../platform/jobs/retention.ts'
import { agingOfChallenges } from '../../platform/sql/spent.ts'
import { executableSchema } from '../executable.ts'
import { agingOfKeys, agingOfRecord } from '../store/books.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { SubjectsRightsDocument } from './ask.generated.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { personProfileResolvers } from './person-profile/resolvers.ts'
import { openFetching } from './profile-source/fetch.ts'
import { profileSourceResolvers } from './profile-source/resolvers.ts'
import { received } from './received.ts'
import { registration } from './registration.ts'
import { styleSnapshotResolvers } from './style-snapshot/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** What agents are told by configuration. */
export interface AgentsSettings {
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
}

/** Agents: person profiles, what they are learned from, and what is measured in it. */
export function define(foundation: Foundation, { quotas, retention: { auditDays } }: AgentsSettings): Subgraph<Context> & { job(actor: string): Job } {
  const { ask, clock, openJobs, callersWay } = foundation
  const { slug, appId } = registration
  const log = foundation.log.child({ subgraph: slug })
  const facts: Facts = openFacts(foundation, { slug: 'agents', received, job: () => contexts.everybodys('facts'), log })
  const fetching = openFetching(() => contexts.everybodys('sources'))
  const jobs = openJobs({
    slug,
    queues: [],
    sweeps: [
      fetching.sweep,
      ...facts.sweeps,
      retention(foundation, [agingOfRecord(slug, auditDays), agingOfKeys(slug), agingOfChallenges(slug), ...facts.aging]),
    ],
    log,
  })
  const services: Services = {
    clock,
    log,
    outbound: callersWay.outbound,
    quotas,
    fetchSoon: fetching.soon,
    isMember: async (userId, organizationId, viewer) =>
      Boolean((await ask(SubjectsRightsDocument, { userId, organizationId }, { appId, viewer })).memberRights),
  }
  const contexts = contextsOf(slug, stores, services, foundation, facts)
  return {
    registration,
    job: contexts.everybodys,
    schema: executableSchema(slug, {
      'person-profile': personProfileResolvers,
      'profile-source': profileSourceResolvers,
      'style-snapshot': styleSnapshotResolvers,
      widget: widgetResolvers,
    }),
    open: contexts.open,
    receive: facts.receive,
    start: jobs.start,
    async ready() {
      await jobs.check()
      return facts.lying()
    },
    stop: async () => void (await Promise.all([jobs.stop(), fetching.stop(), facts.stop()])),
  }
}
