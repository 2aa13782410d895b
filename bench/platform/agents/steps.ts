import { createTestDatabase } from '../../../test/kit/database.ts'
import { measuredCore, type Running, said, start } from '../../processes.ts'
import { startNetwork } from '../../publishing/network.ts'
import { median } from '../../table.ts'

/** Runs of a round, and steps of each: a step is one call. */
const size = { runs: 100, steps: 10 } as const
const calls = size.runs * size.steps
/** What a step may cost, as a multiple of a bare job with the same call. */
const mostRatio = 3

interface Sample {
  readonly perSecond: number
  /** Processor time of one, in ms. */
  readonly cpu: number
}

const here = (path: string) => new URL(path, import.meta.url).pathname

async function timed(program: Running): Promise<Sample> {
  program.child.send('begin')
  const { seconds, cpu } = await said<{ seconds: number; cpu: number }>(program)
  return { perSecond: calls / seconds, cpu: cpu / calls }
}

async function statementsOf(program: Running): Promise<readonly (readonly [string, number])[]> {
  program.child.send('statements')
  return (await said<{ statements: [string, number][] }>(program)).statements
}

/** Measures steps of runs beside as many bare jobs of pg-boss with the same call, in turns; each in a process of its own on a fresh database. */
export async function measureSteps(rounds: number): Promise<string> {
  const own: Sample[] = []
  const bare: Sample[] = []
  let statements: readonly (readonly [string, number])[] = []
  for (let round = 0; round < rounds; round += 1) {
    await using network = await startNetwork()
    {
      const nodeOptions = ['--import', here('../../publishing/count.ts')]
      await using program = start(here('own.ts'), [network.origin, String(size.runs), String(size.steps)], { core: measuredCore, nodeOptions })
      await said(program)
      await statementsOf(program)
      own.push(await timed(program))
      statements = await statementsOf(program)
    }
    await using database = await createTestDatabase()
    await using program = start(here('../../publishing/bare.ts'), [database.url, network.origin, String(calls)], { core: measuredCore })
    await said(program)
    bare.push(await timed(program))
    if (network.received.size !== 2 * calls) throw new Error(`${network.received.size} of ${2 * calls} calls came`)
  }
  const ratio = median(own.map(({ cpu }, round) => cpu / bare[round]!.cpu))
  const line = (name: string, samples: readonly Sample[]) =>
    `| ${name} | ${median(samples.map(({ perSecond }) => perSecond)).toFixed(0)} | ${median(samples.map(({ cpu }) => cpu)).toFixed(2)} |`
  const each = statements.map(([text, times]) => [text, times / calls] as const).filter(([, times]) => times >= 0.02)
  return `${calls.toLocaleString('en')} steps of ${size.runs} runs of ten organizations, a call each that takes 30 ms; ${rounds} rounds.

| | a second | CPU ms each |
| --- | --- | --- |
${line('steps', own)}
${line('bare jobs of pg-boss, the same call', bare)}

CPU of a step ÷ bare job: **${ratio.toFixed(2)}** (at most ${mostRatio}). Statements a step: **${(statements.reduce((sum, [, times]) => sum + times, 0) / calls).toFixed(1)}**, of these:

${each
  .sort(([, one], [, other]) => other - one)
  .map(([text, times]) => `- ${times.toFixed(2)} \`${text}\``)
  .join('\n')}`
}
