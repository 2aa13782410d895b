import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { FetchNode, PlanNode } from '@graphql-hive/router-query-planner'
import { parse, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { actors } from '../../differential/graphs/actors.ts'
import { tariffs } from '../../differential/graphs/tariffs.ts'
import { library } from '../library-graph.ts'
import { compose, type Part, schemaOf } from '../supergraph-fixture.ts'
import { stillThere } from './still.ts'

type Parts = Readonly<Record<string, Part>>

/** Asks the planner by a process of its own, which it can end. */
const asked = (sdl: string, text: string) =>
  promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, sdl, text], { maxBuffer: 10_000_000 }).then(
    ({ stdout }) => ({ stdout, stderr: '', signal: null }),
    ({ stdout = '', stderr = '', signal = null }: { stdout?: string; stderr?: string; signal?: string | null }) => ({ stdout, stderr, signal }),
  )

const program = `
  const { QueryPlanner } = await import('@graphql-hive/router-query-planner')
  const { node } = await new QueryPlanner(process.argv[1]).planAsync(process.argv[2], null, new Set(), 100)
  console.log(JSON.stringify(node))`

/** What the planner itself makes of an operation, without anything of ours. */
const planned = async (parts: Parts, text: string): Promise<PlanNode> => {
  const { stdout, stderr } = await asked(compose(parts), text)
  if (!stdout) throw new Error(stderr)
  return JSON.parse(stdout)
}

function fetchesOf(node: PlanNode): FetchNode[] {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return node.nodes.flatMap(fetchesOf)
    case 'Flatten':
      return fetchesOf(node.node)
    case 'Fetch':
      return [node]
    default:
      return []
  }
}

/** What a subgraph says against what it is to be asked. */
const refusedBy = async (parts: Parts, text: string): Promise<string> =>
  fetchesOf(await planned(parts, text))
    .flatMap(({ serviceName, operation }) => validate(schemaOf(parts[serviceName]!), parse(operation)))
    .join()

describe('the planner (@graphql-hive/router-query-planner), called directly,', () => {
  test('fetches a field with and without its selection when an alias repeats its name', async () => {
    const said = await refusedBy(library, '{ book(id: "b3") { reviews: reviews { body } reviews { stars } } }')
    stillThere('repairs/hive-response-keys', said.includes('must have a selection of subfields'))
  })

  test('crashes its process over an alias that is the name of a key, on a field of another type', async () => {
    const { signal } = await asked(compose(tariffs.parts), '{ parcels { abroad id: sender { ... on Person { id } } } }')
    stillThere('repairs/hive-response-keys', signal === 'SIGABRT')
  })

  test('declares a variable that the client has already declared', async () => {
    const parts = {
      users: { sdl: 'type Query { users: [User] } type User @key(fields: "id") { id: ID! }' },
      reviews: { sdl: 'type User @key(fields: "id") { id: ID! reviews(first: Int): [String] }' },
    }
    const said = await refusedBy(parts, 'query ($representations: Int) { users { reviews(first: $representations) } }')
    stillThere('repairs/hive-variables', said.includes('There can be only one variable named "$representations"'))
  })

  test('forgets the key of an interface object that is narrowed to one implementation, and starts from it', async () => {
    const fetches = fetchesOf(await planned(actors.parts, '{ actors { friends { ... on User { likes } } } }'))
    const first = fetches.find(({ operation }) => operation.includes('friends'))!
    const then = fetches[fetches.indexOf(first) + 1]!
    expect(JSON.stringify(then.requires)).toContain('"id"')
    stillThere('repairs/hive-interface-objects', first.operation.includes('friends{__typename}'))
  })

  test('gives two fields of one object the same inner alias, when two fetches bring them', async () => {
    const fetches = fetchesOf(await planned(tariffs.parts, '{ parcel(id: 1) { home abroad } }'))
    const aliased = fetches.filter(({ operation }) => operation.includes('_internal_qp_alias_0:'))
    stillThere('repairs/hive-inner-aliases', aliased.length === 2)
  })

  test('puts fields of differing types under one key, when fragments lie between them', async () => {
    const parts = {
      one: {
        sdl: `type Query { things: [Thing] } union Thing = A | B type A { kid: Kid } type B { kid: Kid } union Kid = X | Y
          type X { code: String! @shareable } type Y { code: String }`,
      },
      two: { sdl: 'type X { code: String @shareable } type Query { x: X @shareable }' },
    }
    const said = await refusedBy(parts, '{ things { ... on A { kid { ... on X { code } } } ... on B { kid { ... on Y { code } } } } }')
    stillThere('repairs/hive-differing-types', said.includes('they return conflicting types'))
  })

  test('finds no plan for an entity that requires fields of itself and is reached through an entity of its own type', async () => {
    const said = await planned(library, '{ book(id: "b3") { reviews { book { postage } } } }').then(() => '', String)
    stillThere('plan/apollo.ts', said.includes("Path 'book.reviews.@.book' cannot be found"))
  })
})

test('V8 keeps the code of texts for as long as the process lives', async () => {
  const program = `
    const made = from => { for (let n = from; n < from + 3000; n++) new Function('return function f' + n + '(a) { return a.x' + n + ' }')()({}) }
    const heap = () => { for (let n = 0; n < 8; n++) gc(); return process.memoryUsage().heapUsed }
    made(0)
    const before = heap()
    made(3000)
    console.log((heap() - before) / 3000)`
  const bytes = async (...flags: string[]) => Number((await promisify(execFile)(process.execPath, ['--expose-gc', ...flags, '--eval', program])).stdout)
  expect(await bytes('--no-compilation-cache')).toBeLessThan(200)
  stillThere('code.ts (its flag)', (await bytes()) > 500)
})
