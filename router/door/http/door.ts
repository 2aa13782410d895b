import type { Logger } from 'pino'
import type { Authenticate } from '../../access/authenticate.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Hosts } from '../../hosts.ts'
import type { Hub } from '../../live/shared/hub.ts'
import type { Shares } from '../../live/shares.ts'
import type { Streams } from '../../live/streams.ts'
import type { CountError } from '../../metrics/operations.ts'
import type { Documents } from '../documents/documents.ts'
import type { Sources } from '../documents/sources.ts'

/** Options of `/graphql` over HTTP. */
export interface HttpDoor {
  readonly engine: Engine
  /** Name of the variant of the graph that is served; undefined for the whole graph. */
  readonly variant?: string | undefined
  readonly documents: Documents
  readonly sources: Sources
  readonly authenticate: Authenticate
  /** Serves subscriptions. */
  readonly hub: Hub
  readonly streams: Streams
  /** Limits the concurrent operations, and events, of callers. */
  readonly shares: Shares
  /** Limits the concurrent starts of streams. */
  readonly starts: Shares
  readonly events: Shares
  /** Milliseconds between heartbeats of a stream. @default 10000 */
  readonly heartbeatMs?: number | undefined
  readonly hosts: Hosts
  readonly publicUrl: string
  readonly production: boolean
  /** Tells clients the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  /** Counts requests rejected before they reach the engine. @default not counted */
  readonly countError?: CountError | undefined
  /** Whether usual requests are answered without Apollo Server, with the same answers. @default true */
  readonly direct?: boolean | undefined
  readonly log: Logger
}
