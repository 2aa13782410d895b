import { parse, validate } from 'graphql'
import type { AccessFilter } from '../../../router/access/decision.ts'
import type { CachedPart } from '../../../router/engine/data/caching.ts'
import { caching, type Engine } from '../../../router/engine/engine.ts'
import { createEngine } from '../../../router/engine/native/native.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { cachingTransport } from '../../../router/engine/transport/cache/caching-transport.ts'
import { createResponseCache, label, type ResponseCache } from '../../../router/engine/transport/cache/store.ts'
import { passedHeaders, viewerKey } from '../../../router/engine/transport/propagation.ts'
import { createRemoteTransport } from '../../../router/engine/transport/remote.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { type SubgraphServer, serveSubgraph } from '../remote/remote-graph.ts'
import { type Answer, answerOf, compose, type Part } from '../supergraph-fixture.ts'

/** Definitions of `@cacheControl`, as a subgraph composes it. */
export const cacheControl = `extend schema @link(url: "https://supergraph.example/cacheControl/v1.0", import: ["@cacheControl"]) @composeDirective(name: "@cacheControl")
  enum CacheControlScope { PUBLIC PRIVATE }
  directive @cacheControl(maxAge: Int, scope: CacheControlScope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
  `

export interface CachedOptions {
  readonly bytes?: number
  readonly defaultMaxAge?: number
  readonly maxAge?: number
  /** @default true */
  readonly isOn?: boolean
  readonly dropsOnMutation?: boolean
  /** Whether viewers are told apart by themselves instead of by the header x-who. @default false */
  readonly byViewer?: boolean
  readonly access?: (sdl: string) => AccessFilter
  /** Changes the supergraph's text, e.g. for directives that the fixture cannot compose. */
  readonly rewrite?: (sdl: string) => string
  /** A cache of several engines. @default one of its own */
  readonly cache?: ResponseCache
}

/** An answer, and what it says about caching. */
export interface CachedAnswer extends Answer {
  readonly state: string | null | undefined
  readonly maxAge: number
  readonly isPublic: boolean | undefined
  readonly parts: readonly CachedPart[]
}

export interface CachedRun {
  readonly variables?: Record<string, unknown>
  readonly headers?: Record<string, string>
  readonly viewer?: Viewer
  readonly active?: readonly string[]
}

export interface CachedGraph extends AsyncDisposable {
  readonly engine: Engine
  readonly cache: ResponseCache
  readonly servers: Readonly<Record<string, SubgraphServer>>
  run(source: string, more?: CachedRun): Promise<CachedAnswer>
  /** Lets time pass, in seconds. */
  pass(seconds: number): void
  /** Number of requests that a subgraph got since the last call. */
  asked(subgraph: string): number
}

/** Composes subgraphs that listen on loopback, and puts an engine with a response cache before them. */
export async function cachedGraph(parts: Readonly<Record<string, Part>>, options: CachedOptions = {}): Promise<CachedGraph> {
  const servers: Record<string, SubgraphServer> = {}
  for (const [name, part] of Object.entries(parts)) servers[name] = await serveSubgraph(part)
  let time = 0
  const cache = options.cache ?? createResponseCache(options.bytes ?? 1024 * 1024, () => time)
  const { defaultMaxAge = 0, maxAge = 300, isOn = true, dropsOnMutation, byViewer = false, rewrite = sdl => sdl } = options
  const sdl = rewrite(compose(parts))
  const supergraph = readSupergraph(sdl)
  const remote = createRemoteTransport({
    subgraphs: new Map(Object.entries(servers).map(([name, { url }]) => [name, { url }])),
    headers: [{ name: 'x-who' }, { name: 'x-language' }],
  })
  const transport = cachingTransport(remote, {
    supergraph,
    cache: isOn ? cache : undefined,
    defaultMaxAge,
    maxAge,
    droppedBy: dropsOnMutation ? ({ subgraph }) => [label.subgraph(subgraph)] : undefined,
    viewerOf({ viewer, headers }) {
      if (byViewer) return viewer.kind === 'anonymous' ? null : viewerKey(viewer)
      const values = passedHeaders(['x-who'], headers)
      return values.length === 0 ? null : JSON.stringify(values)
    },
  })
  const log = { error: () => {}, warn: () => {} }
  const engine = createEngine({
    supergraphSdl: supergraph,
    transport,
    caching: { defaultMaxAge, maxAge, isOn },
    exposePlans: true,
    access: options.access?.(sdl),
    log,
  })
  const counted = new Map<string, number>()
  return {
    engine,
    cache,
    servers,
    pass(seconds) {
      time += seconds * 1000
    },
    asked(subgraph) {
      const all = servers[subgraph]!.asked.length
      const count = all - (counted.get(subgraph) ?? 0)
      counted.set(subgraph, all)
      return count
    },
    async run(source, { variables, headers = {}, viewer = anonymous, active } = {}) {
      const document = parse(source)
      const mistakes = validate(engine.schema, document)
      if (mistakes.length > 0) throw new Error(`The test's own operation is not valid: ${mistakes.join('\n')}\n${source}`)
      const overrides = active && { active }
      const result = await engine.execute({
        document,
        variables,
        viewer,
        headers: new Headers({ 'x-graphql-cache': 'show', ...headers }),
        requestId: 'request-1',
        overrides,
      })
      const kept = result[caching]
      const { extensions: { cache: parts = [], ...extensions } = {}, ...rest } = answerOf(result)
      const shown = Object.keys(extensions).length > 0 ? { extensions } : {}
      return { ...rest, ...shown, state: kept?.state, maxAge: kept?.maxAge ?? 0, isPublic: kept?.isPublic, parts: parts as readonly CachedPart[] }
    },
    async [Symbol.asyncDispose]() {
      await remote.close()
      await Promise.all(Object.values(servers).map(server => server.stop()))
    },
  }
}

/** People, of whom a subgraph can answer names and another one notes. */
export function people() {
  const names: Record<string, string> = { 1: 'Ann', 2: 'Bob', 3: 'Cleo' }
  const notes: Record<string, string> = { 1: 'first', 2: 'second', 3: 'third' }
  const person = (id: string) => (names[id] === undefined ? null : { __typename: 'Person', id, name: () => names[id] })
  const a: Part = {
    sdl: `${cacheControl}
      type Query {
        people: [Person] @cacheControl(maxAge: 60)
        person(id: ID!, form: Form = LONG): Person @cacheControl(maxAge: 60)
        mine: String @cacheControl(maxAge: 60, scope: PRIVATE)
        now: Int
        count: Int @cacheControl(maxAge: 20)
        silent: String
        long(size: Int!): String @cacheControl(maxAge: 60)
      }
      enum Form { LONG SHORT }
      type Mutation { rename(id: ID!, name: String!): Person }
      type Person @key(fields: "id") @cacheControl(maxAge: 60) { id: ID! name: String greeting(of: String, loud: Boolean = false): String }`,
    resolvers: {
      Query: {
        people: () => Object.keys(names).map(person),
        person: (_: unknown, { id }: { id: string }) => person(id),
        mine: (_: unknown, __: unknown, { who }: { who?: string }) => who ?? 'nobody',
        now: () => 7,
        count: () => Object.keys(names).length,
        silent: () => 'silent',
        long: (_: unknown, { size }: { size: number }) => 'x'.repeat(size),
      },
      Mutation: {
        rename(_: unknown, { id, name }: { id: string; name: string }) {
          names[id] = name
          return person(id)
        },
      },
      Person: {
        __resolveReference: ({ id }: { id: string }) => person(id),
        greeting: ({ id }: { id: string }, { of, loud }: { of?: string; loud: boolean }) => `${of === undefined ? 'none' : of} ${names[id]}${loud ? '!' : ''}`,
      },
    },
  }
  const b: Part = {
    sdl: `type Person @key(fields: "id") { id: ID! note: String fails: String }`,
    resolvers: {
      Person: {
        __resolveReference: ({ id }: { id: string }) => (notes[id] === undefined ? null : { __typename: 'Person', id }),
        note: ({ id }: { id: string }) => notes[id],
        fails({ id }: { id: string }) {
          if (id === '2') throw new Error('fails on purpose')
          return `works for ${id}`
        },
      },
    },
  }
  return { names, notes, parts: { a, b } }
}
