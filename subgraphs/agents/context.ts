import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
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

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Person profiles that one caller writes in 24 hours. */
  readonly profilesADay: number
  /** Sources of profiles that one caller adds in 24 hours. */
  readonly sourcesADay: number
  /** Snapshots that one caller takes in 24 hours. */
  readonly snapshotsADay: number
}

/** What agents work with besides: made once in `definition.ts`. */
export interface Services extends Pick<Foundation, 'clock' | 'log' | 'outbound'> {
  readonly quotas: Quotas
  /** Whether a person is a member of the viewer's organization, as identity knows it. */
  isMember(userId: string, organizationId: string, viewer: Viewer): Promise<boolean>
  /** Has sources looked at whose address is to be fetched: at once, or after so many ms. */
  fetchSoon(ms?: number): void
}

/** What resolvers receive: the viewer, and the stores limited to what the viewer may see. */
export type Context = ContextOf<typeof stores, Services>

/** What jobs and demo data work with: everybody's rows. */
export type Job = JobContextOf<typeof stores, Services>
