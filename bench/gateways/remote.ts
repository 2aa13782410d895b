import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { young } from '../embedded.ts'
import { load, percentile } from '../load/load.ts'
import { freePort, loadCore, measuredCore, type Running, said, start } from '../processes.ts'
import { query } from '../shop/graph.ts'
import { composeShop } from '../shop/supergraph.ts'
import { median, type Row } from '../table.ts'

const here = (path: string) => join(import.meta.dirname, '..', path)
export const body = JSON.stringify({ query })
const connections = 50
const warmUpMilliseconds = 4000

/** One gateway of a comparison. */
interface Contender {
  readonly name: string
  /** Path of its GraphQL endpoint. */
  readonly path: string
  start(supergraph: string, origin: string, port: number): Running
  /** Whether it sends no messages: then its port is tried until it answers. */
  readonly silent?: boolean
}

const measured = { core: measuredCore }
const router = (dedupe: '0' | '1') => (file: string, _origin: string, port: number) =>
  start(here('../router/main.ts'), ['router', '--supergraph', file, '--port', String(port)], {
    ...measured,
    silent: true,
    nodeOptions: young,
    env: { LOG_LEVEL: 'warn', DEDUPLICATE: dedupe },
  })
const hive = (name: string, dedupe: '0' | '1'): Contender => ({
  name,
  path: '/graphql',
  silent: true,
  start: (supergraph, _origin, port) => startHive(supergraph, port, dedupe),
})

/** Starts Hive Gateway by its own command, with its Rust planner. @param env further configuration */
export const startHive = (supergraph: string, port: number, dedupe: '0' | '1', env: Readonly<Record<string, string>> = {}): Running =>
  start(
    here('peers/node_modules/@graphql-hive/gateway/dist/bin.js'),
    ['supergraph', supergraph, '--hive-router-runtime', '-c', here('peers/hive.config.mjs')],
    {
      ...measured,
      silent: true,
      cwd: here('peers'),
      env: { HIVE_SUPERGRAPH: supergraph, HIVE_PORT: String(port), HIVE_DEDUPE: dedupe, ...env },
    },
  )

/** All gateways for workload 1 over HTTP. Peers run as documented; node options are in the name. */
const contenders: readonly Contender[] = [
  { name: '@apollo/gateway', path: '/', start: file => start(here('peers/apollo.mjs'), [file], measured) },
  hive('Hive, Rust planner, dedupe off', '0'),
  hive('Hive, Rust planner, dedupe on', '1'),
  { name: 'own router, semi-space 64', path: '/graphql', silent: true, start: router('0') },
  { name: 'own router, dedupe on, semi-space 64', path: '/graphql', silent: true, start: router('1') },
  { name: 'own engine', path: '/', start: (file, origin) => start(here('gateways/own.ts'), [file, origin], measured) },
  {
    name: 'own engine, semi-space 64',
    path: '/',
    start: (file, origin) => start(here('gateways/own.ts'), [file, origin], { ...measured, nodeOptions: young }),
  },
  {
    name: 'own engine, dedupe on, semi-space 64',
    path: '/',
    start: (file, origin) => start(here('gateways/own.ts'), [file, origin, 'deduplicate'], { ...measured, nodeOptions: young }),
  },
  { name: 'by hand', path: '/', start: (_, origin) => start(here('gateways/by-hand.ts'), [origin], measured) },
  { name: 'by hand, semi-space 64', path: '/', start: (_, origin) => start(here('gateways/by-hand.ts'), [origin], { ...measured, nodeOptions: young }) },
]

export interface RemoteOptions {
  readonly rounds: number
  readonly seconds: number
  /** Measures only contenders whose name matches. */
  readonly only?: RegExp | undefined
}

/** Measures workload 1 over HTTP: all gateways are started, then loaded one after the other, round by round. */
export async function measureRemote({ rounds, seconds, only = /./ }: RemoteOptions): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const { origin, supergraph } = await startShop(stack)
  const requestsSoFar = async () => Number(await (await fetch(`${origin}/count`)).text())

  const started: { contender: Contender; running: Running; port: number; expected: Buffer; perOperation: number }[] = []
  let reference: string | undefined
  for (const contender of contenders.filter(({ name }) => only.test(name))) {
    const wanted = contender.silent ? await freePort() : 0
    const running = stack.use(contender.start(supergraph, origin, wanted))
    const port = contender.silent ? wanted : (await said<{ port: number }>(running)).port
    const expected = await firstAnswer(contender, port)
    reference ??= expected.toString().trim()
    if (expected.toString().trim() !== reference) throw new Error(`${contender.name} answers something else:\n${expected.toString().slice(0, 300)}`)
    const before = await requestsSoFar()
    await firstAnswer(contender, port)
    started.push({ contender, running, port, expected, perOperation: (await requestsSoFar()) - before })
  }
  for (const { contender, port, expected } of started) await load({ port, path: contender.path, body, connections, milliseconds: warmUpMilliseconds, expected })

  const samples = new Map(started.map(({ contender }) => [contender.name, [] as { cpu: number; rps: number; p50: number; p99: number }[]]))
  for (let round = 0; round < rounds; round++) {
    for (const { contender, running, port, expected } of started) {
      const before = running.cpu()
      const result = await load({ port, path: contender.path, body, connections, milliseconds: seconds * 1000, expected })
      if (result.bad > 0) throw new Error(`${contender.name} answered ${result.bad} of ${result.answers} requests wrongly`)
      samples.get(contender.name)!.push({
        cpu: (running.cpu() - before) / result.answers,
        rps: result.answers / result.seconds,
        p50: percentile(result.latencies, 0.5),
        p99: percentile(result.latencies, 0.99),
      })
    }
  }
  return started.map(({ contender, running, perOperation }) => {
    const taken = samples.get(contender.name)!
    return {
      name: contender.name,
      samples: taken.map(({ cpu }) => cpu),
      notes: {
        'requests/s': median(taken.map(({ rps }) => rps)).toFixed(0),
        'p50/p99 ms': `${median(taken.map(({ p50 }) => p50)).toFixed(0)}/${median(taken.map(({ p99 }) => p99)).toFixed(0)}`,
        MB: running.memory().toFixed(0),
        upstream: String(perOperation),
      },
    }
  })
}

export interface Latency {
  /** Requests sent per second: 70 % of the gateway's maximum. */
  readonly rate: number
  /** Milliseconds; medians over the rounds. */
  readonly p50: number
  readonly p99: number
  /** The rounds' own p99 ÷ p50, sorted. */
  readonly ratios: readonly number[]
}

/** Measures our engine's latency at 70 % of its maximum load, round by round. */
export async function measureLatency({ rounds, seconds }: Pick<RemoteOptions, 'rounds' | 'seconds'>): Promise<Latency> {
  await using stack = new AsyncDisposableStack()
  const { origin, supergraph } = await startShop(stack)
  const own = contenders.find(({ name }) => name === 'own engine, semi-space 64')!
  const running = stack.use(own.start(supergraph, origin, 0))
  const { port } = await said<{ port: number }>(running)
  const expected = await firstAnswer(own, port)
  const whole = { port, path: own.path, body, connections, expected, milliseconds: seconds * 1000 }
  await load({ ...whole, milliseconds: warmUpMilliseconds })
  const full = await load(whole)
  const rate = (full.answers / full.seconds) * 0.7
  const taken: { p50: number; p99: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const { latencies, bad } = await load({ ...whole, rate, settle: 1000 })
    if (bad > 0) throw new Error(`${own.name} answered ${bad} requests wrongly`)
    taken.push({ p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) })
  }
  return {
    rate,
    p50: median(taken.map(({ p50 }) => p50)),
    p99: median(taken.map(({ p99 }) => p99)),
    ratios: taken.map(({ p50, p99 }) => p99 / p50).sort((one, other) => one - other),
  }
}

/** Starts the subgraphs of workload 1, and writes the supergraph that names their address. */
export async function startShop(stack: AsyncDisposableStack): Promise<{ origin: string; supergraph: string }> {
  const subgraphs = stack.use(start(here('shop/subgraphs.ts'), [], { core: loadCore }))
  const { port: subgraphPort } = await said<{ port: number }>(subgraphs)
  const origin = `http://127.0.0.1:${subgraphPort}`
  const supergraph = join(mkdtempSync(join(tmpdir(), 'bench-')), 'supergraph.graphql')
  writeFileSync(supergraph, composeShop(origin))
  return { origin, supergraph }
}

/** Whether the peers are installed. */
export const hasPeers = () => existsSync(here('peers/node_modules/@apollo/gateway'))

export async function firstAnswer({ name, path }: Pick<Contender, 'name' | 'path'>, port: number): Promise<Buffer> {
  const end = Date.now() + 30_000
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      })
      return Buffer.from(await response.arrayBuffer())
    } catch (error) {
      if (Date.now() > end) throw new Error(`${name} did not answer within 30 s`, { cause: error })
      await new Promise(done => setTimeout(done, 100))
    }
  }
}
