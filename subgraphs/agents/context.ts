import type { Sweep } from '../../platform/jobs/queue.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import type { Running } from '../wiring/define.ts'
import type { AgentsSettings, Quotas } from './registration.ts'
import { personProfileStore } from './stores/person-profile.ts'
import { profileAuthorizationStore } from './stores/profile-authorization.ts'
import { profileSourceStore } from './stores/profile-source.ts'
import { styleSnapshotStore } from './stores/style-snapshot.ts'

/** What agents keep, each store under the name by which resolvers and jobs know it. */
export const stores = {
  personProfiles: personProfileStore,
  profileAuthorizations: profileAuthorizationStore,
  profileSources: profileSourceStore,
  styleSnapshots: styleSnapshotStore,
}

/** The fetching of sources by their address. */
export interface Fetching {
  readonly sweep: Sweep
  /** Has it begin before its turn: at once, or after so many ms. */
  soon(ms?: number): void
  /** Begins nothing more. What is being asked for then is taken up by another process, or after the next start. */
  stop(): Promise<void>
}

/** What agents work with besides: made once in `services.ts`. */
export interface Services extends Pick<Foundation, 'clock' | 'log' | 'outbound'> {
  readonly quotas: Quotas
  /** Whether a person is a member of the viewer's organization, as identity knows it. */
  isMember(userId: string, organizationId: string, viewer: Viewer): Promise<boolean>
  /** The fetching of sources by their address. */
  readonly fetching: Fetching
}

/** What resolvers receive: the viewer, and the stores limited to what the viewer may see. */
export type Context = ContextOf<typeof stores, Services>

/** What jobs and demo data work with: everybody's rows. */
export type Job = JobContextOf<typeof stores, Services>

/** The subgraph as its nouns find it. */
export type At = Running<typeof stores, Services, AgentsSettings>
