import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'

/** What the launcher's resolvers receive. It keeps nothing of its own yet: what it shows is asked of the services. */
export interface Context extends Pick<Foundation, 'ask' | 'events' | 'log'> {
  readonly viewer: Viewer
  readonly requestId: string
}
