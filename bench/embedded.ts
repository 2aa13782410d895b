import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measuredCore, type Running, said, start } from './processes.ts'
import { composeShop } from './shop/supergraph.ts'
import type { Row } from './table.ts'

const here = (path: string) => join(import.meta.dirname, path)

interface Contender {
  readonly name: string
  readonly program: string
  readonly nodeOptions?: readonly string[]
}

const contenders: readonly Contender[] = [
  { name: 'ApolloGateway + LocalGraphQLDataSource', program: here('peers/local-data-source.mjs') },
  { name: 'own engine', program: here('embedded/own.ts') },
  { name: 'own engine, no generated code', program: here('embedded/own.ts'), nodeOptions: ['--disallow-code-generation-from-strings'] },
  { name: 'one schema, graphql-jit', program: here('peers/monolith.mjs') },
]

export interface EmbeddedOptions {
  readonly rounds: number
  readonly seconds: number
  readonly only?: RegExp | undefined
}

/** Measures workload 1 without HTTP: each contender in a process of its own, in turns. */
export async function measureEmbedded(options: EmbeddedOptions): Promise<Row[]> {
  const supergraph = join(mkdtempSync(join(tmpdir(), 'bench-')), 'supergraph.graphql')
  writeFileSync(supergraph, composeShop('http://127.0.0.1'))
  return takeRounds(contenders, [supergraph], options)
}

/** Starts programs that take turns (`turns.mjs`), checks that they answer the same, and measures them in alternating rounds. */
export async function takeRounds(all: readonly Contender[], args: readonly string[], { rounds, seconds, only = /./ }: EmbeddedOptions): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const started: { name: string; running: Running; samples: number[] }[] = []
  let reference: string | undefined
  for (const { name, program, nodeOptions = [] } of all.filter(contender => only.test(contender.name))) {
    const running = stack.use(start(program, args, { core: measuredCore, nodeOptions }))
    const { answer } = await said<{ answer: string }>(running)
    reference ??= answer
    if (answer !== reference) throw new Error(`${name} answers something else:\n${answer.slice(0, 300)}`)
    started.push({ name, running, samples: [] })
  }
  const turn = (running: Running, milliseconds: number) => {
    running.child.send({ milliseconds })
    return said<{ operations: number; microseconds: number }>(running)
  }
  for (const { running } of started) await turn(running, 5000)
  for (let round = 0; round < rounds; round++) {
    for (const { running, samples } of started) {
      const { operations, microseconds } = await turn(running, seconds * 1000)
      samples.push(microseconds / operations)
    }
  }
  return started.map(({ name, running, samples }) => ({ name, samples, notes: { MB: running.memory().toFixed(0) } }))
}
