import type { Cipher } from '../../platform/cipher.ts'
import type { Reaches } from '../../platform/outbound.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import { credentialStore } from './stores/credential.ts'
import { widgetStore } from './stores/widget.ts'

/** What providers keeps, each store under the name by which resolvers and jobs know it. */
export const stores = (cipher: Cipher) => ({
  credentials: credentialStore(cipher),
  widget: widgetStore,
})

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Credentials of one organization, or of the platform itself. */
  readonly credentialsAnOrganization: number
}

/** What providers works with besides: made once in `definition.ts`. */
export interface Services extends Pick<Foundation, 'events' | 'publicUrl'> {
  readonly quotas: Quotas
  readonly reaches: Reaches
}

type Stores = ReturnType<typeof stores>

/** What resolvers receive: who asks, and what their organization may see. */
export type Context = ContextOf<Stores, Services>

/** What jobs and demo data work with: everybody's rows. */
export type Job = JobContextOf<Stores, Services>
