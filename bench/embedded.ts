import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadCore, measuredCore, type Running, said, start } from './processes.ts'
import { composeShop } from './shop/supergraph.ts'
import { median, type Row } from './table.ts'

const here = (path: string) => join(import.meta.dirname, path)

/** Node options for a young generation that holds what one request allocates, and does not shrink when idle. */
export const young = ['--max-semi-space-size=64', '--min-semi-space-size=64']

/** A program that takes turns (`turns.mjs`). */
interface Contender {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  readonly nodeOptions?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface Rounds {
  readonly rounds: number
  readonly seconds: number
  /** Measures only contenders whose name matches. */
  readonly only?: RegExp | undefined
}

/** Measures workload 1 without HTTP. */
export function measureEmbedded(rounds: Rounds): Promise<Row[]> {
  const file = writeSupergraph('http://127.0.0.1')
  const contenders: Contender[] = [
    { name: 'ApolloGateway + LocalGraphQLDataSource', program: here('peers/local-data-source.mjs'), args: [file] },
    { name: 'own engine', program: here('embedded/own.ts'), args: [file] },
    { name: 'own engine, code generation forbidden', program: here('embedded/own.ts'), args: [file], nodeOptions: ['--disallow-code-generation-from-strings'] },
    { name: 'own engine, semi-space 64', program: here('embedded/own.ts'), args: [file], nodeOptions: young },
    { name: 'one schema, graphql-jit', program: here('peers/monolith.mjs'), args: [file] },
    { name: 'one schema, graphql-jit, semi-space 64', program: here('peers/monolith.mjs'), args: [file], nodeOptions: young },
  ]
  return takeRounds(contenders, rounds)
}

/**
 * Measures workload 2: the platform in one process, through Apollo Server, beside the stock gateway in the same process
 * and over HTTP.
 * @param memory whether reads are answered from memory in place of the database
 */
export async function measurePlatform(rounds: Rounds, { memory = false }: { memory?: boolean } = {}): Promise<Row[]> {
  await using world = start(here('platform/world.ts'), [], { core: loadCore })
  const { settings, databaseUrl, viewer } = await said<{ settings: Record<string, string>; databaseUrl: string; viewer: object }>(world)
  const nodeOptions = memory ? ['--import', here('platform/memory.ts')] : []
  const own = { program: here('platform/own.ts'), env: settings, nodeOptions }
  return await takeRounds(
    [
      { name: 'stock gateway over HTTP', program: here('platform/over-http.ts'), args: [databaseUrl, JSON.stringify(viewer), ...nodeOptions] },
      { name: 'stock gateway in the same place', ...own, args: ['apollo'] },
      { name: 'own engine', ...own, args: ['native'] },
    ],
    rounds,
  )
}

/**
 * Measures a store's read by key beside its bare statement, and the cost of a page and a mutation, with the number of
 * their statements.
 */
export async function measureStore(rounds: Rounds): Promise<Row[]> {
  await using world = start(here('platform/world.ts'), [], { core: loadCore })
  const { settings } = await said<{ settings: Record<string, string> }>(world)
  const works = { 'bare prepared statement': 'bare', 'a store’s read by key': 'read', 'a page of fifty posts': 'page', createPost: 'create' }
  const contenders = Object.entries(works).map(([name, work]) => ({ name, program: here('platform/store.ts'), args: [work], env: settings }))
  return await takeRounds(contenders, rounds, 'statements')
}

/** The rest of a subscription's plan, per event. */
export async function measureEvents(rounds: Rounds): Promise<Row[]> {
  await using subgraphs = start(here('shop/subgraphs.ts'), [], { core: loadCore })
  const { port } = await said<{ port: number }>(subgraphs)
  const origin = `http://127.0.0.1:${port}`
  const program = here('embedded/events.ts')
  return await takeRounds(
    [
      { name: 'in process', program, args: [writeSupergraph('http://127.0.0.1')] },
      { name: 'remote', program, args: [writeSupergraph(origin), origin], nodeOptions: young },
    ],
    rounds,
  )
}

/** Measures the milliseconds of workload 2's first run, and the heap after each thousand distinct operations. */
export async function measureMisses(): Promise<{ plan: { first: number; median: number }; memory: { at: number; heap: number; rss: number }[] }> {
  const program = here('embedded/misses.ts')
  const options = { core: measuredCore, nodeOptions: ['--expose-gc'] }
  await using planning = start(program, [here('../schema/supergraph.graphql'), 'plan'], options)
  const plan = await said<{ first: number; median: number }>(planning)
  await using remembering = start(program, [writeSupergraph('http://127.0.0.1'), 'memory'], options)
  return { plan, memory: await said(remembering) }
}

function writeSupergraph(address: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'bench-')), 'supergraph.graphql')
  writeFileSync(file, composeShop(address))
  return file
}

/**
 * Checks that programs answer the same, and measures them in alternating rounds.
 * @param column title of the answers' column, where programs do different things
 */
export async function takeRounds(all: readonly Contender[], { rounds, seconds, only = /./ }: Rounds, column?: string): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const started: { name: string; answer: string; running: Running; samples: number[]; perSecond: number[] }[] = []
  let reference: string | undefined
  for (const { name, program, args, nodeOptions = [], env = {} } of all.filter(contender => only.test(contender.name))) {
    const running = stack.use(start(program, args, { core: measuredCore, nodeOptions, env }))
    const { answer } = await said<{ answer: string }>(running)
    reference ??= answer
    if (!column && answer !== reference) throw new Error(`${name} answers something else:\n${answer.slice(0, 600)}\nin place of\n${reference.slice(0, 600)}`)
    started.push({ name, answer, running, samples: [], perSecond: [] })
  }
  const turn = (running: Running, milliseconds: number) => {
    running.child.send({ milliseconds })
    return said<{ operations: number; microseconds: number }>(running)
  }
  for (const { running } of started) await turn(running, 4000)
  for (let round = 0; round < rounds; round++) {
    for (const { running, samples, perSecond } of started) {
      const { operations, microseconds } = await turn(running, seconds * 1000)
      samples.push(microseconds / operations)
      perSecond.push(operations / seconds)
    }
  }
  return started.map(({ name, answer, running, samples, perSecond }) => ({
    name,
    samples,
    notes: { ...(column && { [column]: answer }), 'operations/s': median(perSecond).toFixed(0), MB: running.memory().toFixed(0) },
  }))
}
