import type { KeyCheck } from '../../store/key-check.ts'
import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { tellOfGroups } from './groups.ts'
import { resyncConnections } from './health.ts'
import { integrationResolvers } from './integration/resolvers.ts'
import { connectionResolvers } from './resolvers.ts'
import { deletions } from './revocation/deletion.ts'
import { caring } from './sweep.ts'

interface At extends Base<Job, unknown> {
  readonly services: { readonly keys: KeyCheck }
}

/** Connections to accounts at networks. */
export const connectionNouns: Readonly<Record<string, Noun<At>>> = {
  connection: {
    resolvers: connectionResolvers,
    sweeps: ({ job }) => [caring(() => job('delivery')), deletions(() => job('deletion'))],
    readiness: ({ services: { keys } }) => [keys],
    resync: ({ foundation: { events }, job }) =>
      resyncConnections(events, (organizationId, since) => job('delivery').connections.changedSince(organizationId, since)),
    start: ({ job, log }) =>
      tellOfGroups(job('start')).catch(error => log.error({ err: error }, 'marking groups that accept no posts failed; the next start retries')),
  },
  integration: { resolvers: integrationResolvers },
}
