import type { Sequelize } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import type { Reading } from '../../platform/sql/reading.ts'
import type { Browser } from '../http/browser.ts'
import type { Operation } from '../subgraph.ts'
import { actorOf, type Viewer } from '../viewer.ts'
import { booksOf, type KeysOf, type Recording, type Writer, type Writing, writing } from './books.ts'
import type { FactWriting } from './new-facts.ts'
import type { Openable } from './store.ts'

/** The stores of a subgraph's nouns, under the names that resolvers use. */
export type Stores = Readonly<Record<string, Openable>>

type Opened<S extends Stores> = { readonly [Name in keyof S]: S[Name] extends Openable<infer Rows> ? Rows : never }

/** Context of resolvers: the viewer, the rows that the viewer may see, and the subgraph's services. */
export type ContextOf<S extends Stores, Services extends object> = Opened<S> &
  Services &
  Writing & {
    readonly viewer: Viewer
    readonly requestId: string
    /** Aborts when the caller no longer waits for the answer. */
    readonly leaving: AbortSignal
    /** For mutations: the calling browser, if there is one. */
    readonly browser: Browser | undefined
  }

/** Context of jobs: the rows of all organizations, and the actor for audit entries. */
export type JobContextOf<S extends Stores, Services extends object> = Opened<S> & Services & Writing

/** Creates contexts. */
export interface Contexts<S extends Stores, Services extends object> {
  /** Creates the context for one operation of a viewer, or one event of a stream; contexts share nothing. */
  open(viewer: Viewer, operation: Operation): ContextOf<S, Services>
  /** A context for one forwarded request of a viewer: uncached rows that the viewer may see; the audit log names the viewer. */
  forRequest(viewer: Viewer, request: Request): ContextOf<S, Services>
  /**
   * Creates a context for one piece of work of a job: it reads the rows of all organizations, uncached.
   * @param actor as audit entries name it: `delivery`
   */
  systemContext(actor: string): JobContextOf<S, Services>
}

/** Reading for jobs: no caller waits, and nothing is counted. */
const unhurried: Reading = { fresh: true, signal: new AbortController().signal, read() {}, statement: run => run() }

/**
 * Creates the contexts; stores are opened at their first use.
 * @param slug   the subgraph, whose SQL schema has the audit log and the idempotency keys
 * @param facts  publishes facts for other subgraphs (`openFacts`)
 * @param keysOf whom an idempotency key belongs to
 * @param record writes audit entries, where the subgraph has fields of its own
 */
export function contextsOf<S extends Stores, Services extends object>(
  slug: string,
  stores: S,
  services: Services,
  { sequelize, clock }: { readonly sequelize: Sequelize; readonly clock: Clock },
  facts: FactWriting,
  keysOf: KeysOf = 'organization',
  record?: Recording,
): Contexts<S, Services> {
  const books = booksOf(slug, keysOf, record)

  /** The context is a class, because one is created for every operation and every event. */
  class Context {
    readonly viewer: Viewer | null
    readonly operation: Operation | null
    readonly actor: string
    readonly opened: Record<string, unknown> = {}

    constructor(viewer: Viewer | null, operation: Operation | null, actor: string) {
      this.viewer = viewer
      this.operation = operation
      this.actor = actor
    }

    get requestId(): string | undefined {
      return this.operation?.requestId
    }

    get leaving(): AbortSignal {
      return (this.operation ?? unhurried).signal
    }

    get browser(): Browser | undefined {
      return this.operation?.browser
    }

    get [writing](): Writer {
      const { operation } = this
      const replay = () => {
        if (operation) operation.isReplay = true
      }
      return { sequelize, clock, actor: this.actor, viewer: this.viewer, books, facts, replay }
    }
  }
  const names = new Set(['viewer', 'operation', 'actor', 'opened', 'requestId', 'leaving', 'browser'])
  for (const [name, service] of Object.entries(services)) define(name, { value: service, enumerable: true })
  for (const [name, store] of Object.entries(stores))
    define(name, {
      get(this: Context) {
        this.opened[name] ??= store.open({ sequelize, clock, reading: this.operation ?? unhurried, viewer: this.viewer })
        return this.opened[name]
      },
    })
  function define(name: string, property: PropertyDescriptor): void {
    if (names.has(name)) throw new Error(`${slug} has two things named ${name} for its resolvers: rename one`)
    names.add(name)
    Object.defineProperty(Context.prototype, name, property)
  }
  return {
    open: (viewer, operation) => new Context(viewer, operation, actorOf(viewer)) as never,
    forRequest: (viewer, { headers, signal }) =>
      new Context(viewer, { ...unhurried, signal, requestId: headers.get('x-request-id') ?? '' }, actorOf(viewer)) as never,
    systemContext: actor => new Context(null, null, actor) as never,
  }
}
