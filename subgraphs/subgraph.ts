import type { GraphQLSchema } from 'graphql'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Sequelize } from 'sequelize'
import type { Ask, CallService } from '../platform/ask.ts'
import type { Cipher } from '../platform/cipher.ts'
import type { Clock } from '../platform/clock.ts'
import type { Events } from '../platform/events.ts'
import type { Fact, FactCarrier, Receipt } from '../platform/jobs/facts/fact.ts'
import type { OpenJobs } from '../platform/jobs/jobs.ts'
import type { CallersWay } from '../platform/outbound/callers.ts'
import type { WayOut } from '../platform/outbound/outbound.ts'
import type { OpenPool } from '../platform/sql/pool.ts'
import type { Reading } from '../platform/sql/reading.ts'
import type { OpenStorage } from '../platform/storage/storage.ts'
import type { Browser } from './http/browser.ts'
import type { Slug } from './scopes.ts'
import type { Viewer } from './viewer.ts'

/** What every subgraph stands on: made once per process by the composition root (`router/start/`), handed over whole. */
export interface Foundation {
  readonly environment: 'development' | 'staging' | 'production'
  /** Origin under which clients reach the platform, without a trailing slash. */
  readonly publicUrl: string
  readonly sequelize: Sequelize
  /** Opens a pool beside it on the same database, for libraries that bring their own SQL, out of the connections of the process. */
  readonly openPool: OpenPool
  /** Opens the job runner of one subgraph on its own database. */
  readonly openJobs: OpenJobs
  readonly events: Events
  /** Whether no other process works on the same database: then what a process remembers of rows nobody else changes. */
  readonly isAlone: boolean
  readonly ask: Ask
  /** Calls rows of others that no operation stands behind; null where the service has no token to call with. */
  readonly call: CallService | null
  /** Brings facts to other subgraphs; `openFacts` of `subgraphs/store/facts.ts` is what uses it. */
  readonly carrier: FactCarrier
  readonly clock: Clock
  readonly cipher: Cipher
  /** Opens what a subgraph keeps beside its rows: pictures, films. */
  readonly storage: OpenStorage
  /** To third parties that configuration names. */
  readonly outbound: WayOut
  /** To addresses that callers give. */
  readonly callersWay: CallersWay
  readonly log: Logger
  /** What the process counts: a subgraph enters figures of its own once. */
  readonly metrics: Registry
}

/** How a service presents itself to identity's registry: data, synchronised at every start (I-07). */
export interface Registration {
  readonly slug: Slug
  /** `app_<slug>`: the name under which the service calls others. */
  readonly appId: string
  readonly title: string
  readonly contexts: readonly ('personal' | 'organization')[]
  /** Path or address of the icon asset. */
  readonly icon: string
  /** Scopes (`slug:scope`) that this service's own calls to others carry. */
  readonly asks: readonly string[]
  /** Whether it answers `<slug>Widget`, and for whom one answer is true. */
  readonly widget: { readonly audience: 'organization' | 'user' } | null
  readonly lifecycle: 'active' | 'deprecated' | 'retired'
  /** `application`: people open it. `technical`: it serves other services. */
  readonly kind: 'application' | 'technical'
  /** What it can do beyond what every service can. */
  readonly capabilities: readonly 'household_capable'[]
  /** Its apps for phones. */
  readonly mobileApps: readonly MobileApp[]
  /**
   * What apps that are no service of the platform may do in this one, by app id, with a token for this service alone
   * (`<APP>_<SERVICE>_SERVICE_TOKEN`). @default nothing
   */
  readonly grants?: Readonly<Record<string, readonly string[]>>
}

/** An app for phones, as the store of its platform knows it. */
export interface MobileApp {
  readonly platform: 'ios' | 'android'
  /** On Android the package, on iOS team and bundle: `TEAM123456.com.example.app`. */
  readonly appId: string
  readonly storeUrl: string | null
  /** SHA-256 of the certificates that it is signed with, in hexadecimal pairs with colons between. */
  readonly certificateFingerprints: readonly string[]
}

/** What one operation, or one event of a stream, is known by inside a subgraph. */
export interface Operation extends Reading {
  readonly requestId: string
  /** The browser that asks; without it a program does, or nobody knows. */
  readonly browser?: Browser | undefined
  /** Whether the mutation that is being resolved was answered with what the same idempotency key had made before. */
  isReplay?: boolean
  /** Response names of the mutations that were answered so. */
  replayed?: string[] | null
}

/**
 * One subgraph, ready to be composed into the supergraph.
 * `Context` is what its resolvers receive; it is born per operation, because it holds the loaders.
 */
export interface Subgraph<Context extends object = object> {
  readonly registration: Registration
  /**
   * Executable federation schema (`_service`, `_entities` included). Fields without a resolver are read from the object as they
   * are: what has to be called or waited for needs a resolver, because repeated operations are compiled.
   */
  readonly schema: GraphQLSchema
  /** Makes the resolvers' context for one operation of one viewer: fresh loaders, nothing shared with another. */
  open(viewer: Viewer, operation: Operation): Context
  /** Serves the rows that the router forwards untouched (D9): redirects, pages, foreign handlers, raw bodies. */
  http?(request: Request, viewer: Viewer): Promise<Response>
  /** Beginnings of paths below which bodies of forwarded requests come as streams, and are never held whole. @default none */
  readonly streams?: readonly string[]
  /** Takes a fact of another subgraph; without it, the subgraph is told none. */
  receive?(fact: Fact): Promise<Receipt>
  /** Starts jobs and sweeps; resolves when they run. */
  start(): Promise<void>
  /**
   * Rejects while what it works with (its connections, its job runner) does not; asked by `/health/ready`.
   * @returns what an operator should know although it works, in a sentence
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: who has nothing to say returns nothing
  ready?(): Promise<string | void>
  /** Stops taking work, ends what runs, frees what was opened; safe to call twice. */
  stop(): Promise<void>
}

/**
 * The topic on which a service tells that its widget of one organization may show something else now. The service
 * announces it, the launcher listens: neither knows the other.
 */
export const widgetTopic = (slug: string, organizationId: string): string => `widget.${slug}.${organizationId}`

/** How all those topics begin; the service's slug follows, up to the next point. */
export const widgetTopics = 'widget.'
