import { join } from 'node:path'
import { young } from '../embedded.ts'
import { body, firstAnswer, startShop } from '../gateways/remote.ts'
import { load, percentile } from '../load/load.ts'
import { familyOf, freePort, loadCore, measuredCore, type Running, said, start } from '../processes.ts'
import { median } from '../table.ts'

const connections = 48
const path = '/graphql'

interface Contender {
  readonly name: string
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const contenders: readonly Contender[] = [
  { name: 'one process', words: [] },
  { name: '1 worker', words: ['--workers', '1'] },
  { name: '2 workers', words: ['--workers', '2'] },
  { name: '2 workers, SHARE_PORT', words: ['--workers', '2'], env: { SHARE_PORT: '1' } },
]

/** One contender's measurement in one round. */
interface Sample {
  /** Milliseconds of processor time of an answer, over all its processes. */
  readonly cpu: number
  /** Milliseconds of the busiest process, which limits the answers a second. */
  readonly busiest: number
  readonly rps: number
  readonly p99: number
}

/**
 * Measures a router of one process beside one of several, on workload 1.
 *
 * A machine with two cores cannot give separate cores to two workers, the load and the subgraphs. So there are two
 * measurements: the cost of an answer for all processes and for the busiest, and answers a second where each worker
 * gets a quarter of one core in turn, so that none takes another's time.
 */
export async function measureWorkers({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const { supergraph } = await startShop(stack)
  const started: { contender: Contender; port: number; running: Running; serving: readonly number[]; expected: Buffer }[] = []
  for (const contender of contenders) {
    const port = await freePort()
    const words = ['router', '--supergraph', supergraph, ...contender.words, '--port', String(port)]
    const env = { LOG_LEVEL: 'warn', ...contender.env }
    const running = stack.use(start(join(import.meta.dirname, '../../router/main.ts'), words, { core: measuredCore, silent: true, nodeOptions: young, env }))
    const expected = await firstAnswer({ name: contender.name, path }, port)
    await allServe(port)
    const family = familyOf(running.child.pid!)
    started.push({ contender, port, running, expected, serving: (contender.words.length > 0 ? family.slice(1) : family.slice(0, 1)).map(({ pid }) => pid) })
  }
  const request = { path, body, connections }
  for (const { port, expected } of started) await load({ ...request, port, expected, milliseconds: 4000 })

  const round = async ({ contender, port, running, expected }: (typeof started)[number]): Promise<Sample> => {
    const before = new Map(familyOf(running.child.pid!).map(({ pid, cpu }) => [pid, cpu]))
    const result = await load({ ...request, port, expected, milliseconds: seconds * 1000 })
    if (result.bad > 0) throw new Error(`${contender.name} answered ${result.bad} of ${result.answers} requests wrongly`)
    const spent = familyOf(running.child.pid!).map(({ pid, cpu }) => cpu - before.get(pid)!)
    return {
      cpu: spent.reduce((sum, each) => sum + each, 0) / result.answers,
      busiest: Math.max(...spent) / result.answers,
      rps: result.answers / result.seconds,
      p99: percentile(result.latencies, 0.99),
    }
  }
  const samples = new Map(contenders.map(({ name }) => [name, { whole: [] as Sample[], slots: [] as Sample[] }]))
  for (let at = 0; at < rounds; at++)
    for (const each of started) {
      samples.get(each.contender.name)!.whole.push(await round(each))
      const slots = start(join(import.meta.dirname, 'slots.ts'), each.serving.map(String), { core: loadCore })
      await said(slots)
      samples.get(each.contender.name)!.slots.push(await round(each))
      await slots[Symbol.asyncDispose]()
    }

  const one = samples.get('1 worker')!
  const against = (of: readonly Sample[], to: readonly Sample[], value: (sample: Sample) => number) =>
    median(of.map((sample, at) => value(sample) / value(to[at]!))).toFixed(2)
  const rows = contenders.map(({ name }) => {
    const { whole, slots } = samples.get(name)!
    const memory = familyOf(started.find(({ contender }) => contender.name === name)!.running.child.pid!).reduce((sum, { memory }) => sum + memory, 0)
    return `| ${[
      name,
      median(whole.map(({ cpu }) => cpu)).toFixed(3),
      median(whole.map(({ busiest }) => busiest)).toFixed(3),
      against(one.whole, whole, ({ busiest }) => busiest),
      median(slots.map(({ cpu }) => cpu)).toFixed(3),
      median(slots.map(({ rps }) => rps)).toFixed(0),
      against(slots, one.slots, ({ rps }) => rps),
      median(slots.map(({ p99 }) => p99)).toFixed(0),
      memory.toFixed(0),
    ].join(' | ')} |`
  })
  return `| | CPU ms/answer, all | of the busiest | answers that allows ÷ 1 worker | by slots: CPU ms/answer | answers/s | ÷ 1 worker | p99 ms | MB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`
}

/** Resolves when every worker serves. */
async function allServe(port: number): Promise<void> {
  while ((await fetch(`http://127.0.0.1:${port}/health/ready`)).status !== 200) await new Promise(done => setTimeout(done, 100))
}
