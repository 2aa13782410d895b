import { buildSchema, type GraphQLSchema } from 'graphql'
import { DomainError } from '../../platform/errors.ts'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { TestContext } from './platform.ts'

/**
 * A small graph that does what doors must cope with: it refuses, fails, waits and streams.
 * @param gate until it resolves, no stream of `late` begins
 */
export function smallGraph(events: Events = createMemoryEvents(), left: string[] = [], gate: Promise<unknown> = Promise.resolve()): GraphQLSchema {
  const schema = buildSchema(`
    type Query { hello(name: String): String  viewer: Viewer  refuse: String  crash: String  wait: String  hang: String }
    type Mutation { rename(name: String!): String }
    type Subscription { tick: String  flood: String  late: String }
    type Viewer { kind: String!  userId: String  organizationId: String  roles: [String!]!  scopes: [String!]!  again: Viewer }
  `)
  const fields = (type: string) => schema.getType(type) as unknown as { getFields(): Record<string, { resolve?: unknown; subscribe?: unknown }> }
  const resolve = (type: string, field: string, resolver: unknown, kind: 'resolve' | 'subscribe' = 'resolve') => {
    fields(type).getFields()[field]![kind] = resolver
  }
  const viewer = (_: unknown, __: unknown, context: TestContext): Viewer => context.viewer
  resolve('Query', 'hello', (_: unknown, { name }: { name?: string }) => `Hello ${name ?? 'world'}`)
  resolve('Query', 'viewer', viewer)
  resolve('Viewer', 'again', viewer)
  resolve('Query', 'refuse', () => {
    throw new DomainError('CONFLICT', 'Somebody was faster: read it again.', { http: { status: 418 }, version: 3 })
  })
  resolve('Query', 'crash', () => {
    throw new Error('connect ECONNREFUSED 10.0.0.7:5432 password=hunter2')
  })
  resolve('Query', 'wait', async (_: unknown, __: unknown, { signal }: TestContext) => {
    await new Promise(done => setTimeout(done, 300))
    return signal?.aborted ? 'aborted' : 'waited'
  })
  resolve(
    'Query',
    'hang',
    (_: unknown, __: unknown, { signal }: TestContext) => new Promise(done => signal!.addEventListener('abort', () => done(left.push('hang')))),
  )
  resolve('Mutation', 'rename', (_: unknown, { name }: { name: string }) => name)
  resolve('Subscription', 'tick', () => events.listen(['tick']), 'subscribe')
  resolve('Subscription', 'tick', (event: { n: string }) => event.n)
  resolve('Subscription', 'flood', () => events.listen(['flood']), 'subscribe')
  resolve('Subscription', 'flood', (event: { n: string }) => `${event.n} ${'x'.repeat(200_000)}`)
  resolve('Subscription', 'late', () => gate.then(() => events.listen(['late'])), 'subscribe')
  return schema
}
