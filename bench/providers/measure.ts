import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import setUp from '../../test/kit/run/global-setup.ts'
import { load, percentile } from '../load/load.ts'
import { openStreams } from '../load/streams.ts'
import { freePort, keepAwake, loadCore, measuredCore, said, start } from '../processes.ts'
import { median, type Row, tableOf } from '../table.ts'
import type { Started } from './started.ts'
import { startWhole } from './whole.ts'

const here = (path: string) => join(import.meta.dirname, path)
const portkey = here('../peers/node_modules/@portkey-ai/gateway/build/start-server.js')

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly only?: RegExp | undefined
}

/** A gateway between client and model. */
interface Contender {
  readonly name: string
  /** @param origin of the model */
  start(origin: string): Promise<Started>
}

const own = (name: string, program: string): Contender => ({
  name,
  async start(origin) {
    const running = start(here(program), [origin], { core: measuredCore })
    const { port, path, headers } = await said<Omit<Started, 'running'>>(running)
    return { running, port, path, headers }
  },
})

const pipe: Contender = {
  name: 'bare pipe',
  async start(origin) {
    const running = start(here('pipe.ts'), [origin], { core: measuredCore })
    const { port } = await said<{ port: number }>(running)
    return { running, port, path: '/v1/chat/completions', headers: { authorization: 'Bearer sk-bench' } }
  },
}

/** The peer as its documentation starts it, without cache, log and retries. */
const peer: Contender = {
  name: '@portkey-ai/gateway',
  async start(origin) {
    const port = await freePort()
    const running = start(portkey, [`--port=${port}`, '--headless'], { core: measuredCore, silent: true, cwd: here('../peers') })
    const headers = { authorization: 'Bearer sk-bench', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${origin}/v1` }
    return { running, port, path: '/v1/chat/completions', headers }
  },
}

const ours = own('own gateway', 'own.ts')

const ask = { model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Say another, twenty times.' }] }
const bodies = {
  plain: JSON.stringify(ask),
  streamed: JSON.stringify({ ...ask, stream: true }),
  paced: JSON.stringify({ ...ask, stream: true, seed: 1 }),
}

const twin = async (stack: AsyncDisposableStack): Promise<string> => {
  const running = stack.use(start(here('twin.ts'), [], { core: loadCore }))
  return `http://127.0.0.1:${(await said<{ port: number }>(running)).port}`
}

/** Returns a contender's answer, once it is ready. */
async function firstAnswer({ port, path, headers }: Started, body: string): Promise<Buffer> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }).catch(
      () => null,
    )
    if (answer?.status === 200) return Buffer.from(await answer.arrayBuffer())
    if (tries === 100) throw new Error(`${path} answered ${answer?.status} ${await answer?.text()}`)
    await wait(100)
  }
}

interface Sample {
  readonly cpu: number
  readonly rps: number
  readonly p50: number
  readonly p99: number
}

/** Measures the latency with one client, then answers a second and processor time with twenty. */
async function oneRound({ running, port, path, headers }: Started, body: string, expected: Buffer, seconds: number): Promise<Sample> {
  const request = { port, path, headers, body, expected }
  const alone = await load({ ...request, connections: 1, milliseconds: seconds * 500, settle: 100 })
  const before = running.cpu()
  const all = await load({ ...request, connections: 20, milliseconds: seconds * 1000 })
  const cpu = (running.cpu() - before) / all.answers
  if (alone.bad + all.bad > 0) throw new Error(`${alone.bad + all.bad} answers were wrong`)
  return { cpu, rps: all.answers / all.seconds, p50: percentile(alone.latencies, 0.5), p99: percentile(alone.latencies, 0.99) }
}

async function compare(body: string, contenders: readonly Contender[], { rounds, seconds }: Options): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const origin = await twin(stack)
  const started: (Started & { name: string; expected: Buffer; samples: Sample[] })[] = []
  for (const { name, start } of contenders) {
    const one = await start(origin)
    stack.use(one.running)
    started.push({ ...one, name, expected: await firstAnswer(one, body), samples: [] })
  }
  for (const { port, path, headers, expected } of started) await load({ port, path, headers, body, expected, connections: 20, milliseconds: 3000 })
  for (let round = 0; round < rounds; round++) for (const one of started) one.samples.push(await oneRound(one, body, one.expected, seconds))
  return started.map(({ name, samples, running }) => ({
    name,
    samples: samples.map(({ cpu }) => cpu),
    notes: {
      'alone p50/p99 ms': `${median(samples.map(({ p50 }) => p50)).toFixed(2)}/${median(samples.map(({ p99 }) => p99)).toFixed(2)}`,
      'answers/s, 20 at once': median(samples.map(({ rps }) => rps)).toFixed(0),
      MB: running.memory().toFixed(0),
    },
  }))
}

const streamsAtOnce = 200

/** Measures the processor time of a chunk while a number of streams run at a fixed pace. */
async function manyStreams(contenders: readonly Contender[], { rounds, seconds }: Options): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const origin = await twin(stack)
  const started: (Started & { name: string; samples: number[] })[] = []
  for (const { name, start } of contenders) {
    const one = await start(origin)
    stack.use(one.running)
    await firstAnswer(one, bodies.streamed)
    started.push({ ...one, name, samples: [] })
  }
  const run = async ({ running, port, path, headers }: Started, milliseconds: number) => {
    const { promise: broken, reject } = Promise.withResolvers<never>()
    const reading = openStreams({ port, path, headers, body: bodies.paced, streams: streamsAtOnce }, reject)
    await Promise.race([wait(500), broken])
    const [cpu, chunks] = [running.cpu(), reading.chunks()]
    await Promise.race([wait(milliseconds), broken])
    const sample = ((running.cpu() - cpu) * 1000) / (reading.chunks() - chunks)
    reading.stop()
    await wait(200)
    return sample
  }
  for (const one of started) await run(one, 2500)
  for (let round = 0; round < rounds; round++) for (const one of started) one.samples.push(await run(one, seconds * 1000))
  return started.map(({ name, samples, running }) => ({ name, samples, notes: { MB: running.memory().toFixed(0) } }))
}

/**
 * Measures the additional latency of a call with all features on, compared with a direct call, by one client; and its
 * statements.
 */
async function everythingOn({ rounds, seconds }: Options): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const origin = await twin(stack)
  stack.defer(await setUp())
  const { statements, ...whole } = await startWhole(stack, origin, bodies.plain)
  const { running } = whole
  const model: Started = { running, port: Number(new URL(origin).port), path: '/v1/chat/completions', headers: {} }
  const samples: Record<'asleep' | 'awake', { added: number; p50: number; cpu: number }[]> = { asleep: [], awake: [] }
  const measure = async (one: Started, milliseconds: number) => {
    const { running: _, ...request } = one
    return load({ ...request, body: bodies.plain, expected: await firstAnswer(one, bodies.plain), connections: 1, milliseconds, settle: 100 })
  }
  await measure(whole, 2000)
  // A key may make only so many calls a minute.
  const turns = 2 * Math.min(rounds, 5)
  for (let turn = 0; turn < turns; turn++) {
    const cores = turn % 2 ? 'awake' : 'asleep'
    await using _awake = cores === 'awake' ? await keepAwake() : null
    const before = running.cpu()
    const [told, cpu] = [await measure(whole, seconds * 200), running.cpu() - before]
    const without = await measure(model, seconds * 200)
    if (told.bad > 0) throw new Error(`${told.bad} answers were wrong`)
    const p50 = percentile(told.latencies, 0.5)
    samples[cores].push({ added: p50 - percentile(without.latencies, 0.5), p50, cpu: cpu / told.answers })
  }
  const rows = Object.entries(samples).map(([cores, all]) => {
    const of = (name: 'added' | 'p50' | 'cpu') => median(all.map(each => each[name])).toFixed(2)
    return `| ${cores === 'awake' ? 'kept awake' : 'as they are'} | ${of('p50')} | **${of('added')}** | ${of('cpu')} |`
  })
  return `Two hard limits, a key, the log; one client that asks without a pause, ${statements.length} SQL statements a call.

| cores | p50 ms | more than the model alone | CPU ms a call |
| --- | --- | --- | --- |
${rows.join('\n')}

${statements.map(text => `- \`${text}\``).join('\n')}`
}

/**
 * Measures the gateway beside its peer and a bare pipe; its overhead with all features on; and many concurrent streams.
 */
export async function measureProviders(options: Options): Promise<string> {
  const only = options.only ?? /./
  const beside = [...(existsSync(portkey) ? [peer] : []), ours, pipe].filter(({ name }) => only.test(name))
  const parts: string[] = []
  if (only.test('everything on')) parts.push(`### everything on\n\n${await everythingOn(options)}`)
  if (beside.length === 0) return parts.join('\n\n')
  for (const kind of ['plain', 'streamed'] as const)
    parts.push(`### ${kind}, no budget and no log\n\n${tableOf(await compare(bodies[kind], beside, options), 'ms/answer', ['own gateway'])}`)
  const streams = await manyStreams(beside, options)
  parts.push(`### ${streamsAtOnce} streams at once\n\n${tableOf(streams, 'µs/chunk', ['bare pipe'])}`)
  return parts.join('\n\n')
}
