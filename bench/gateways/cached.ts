import { join } from 'node:path'
import { young } from '../embedded.ts'
import { type LoadResult, load } from '../load/load.ts'
import { freePort, measuredCore, type Running, start } from '../processes.ts'
import type { Row } from '../table.ts'
import { body, firstAnswer, type RemoteOptions, startShop } from './remote.ts'

/** Settings of the response cache for each contender; the shop's schema has no hints, so all ages are the default. */
const contenders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  off: {},
  on: { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_DEFAULT_MAX_AGE: '300' },
}

/** Requests a second that may be answered from the cache, and that renew it: 95 to 5. */
const rates = { repeated: 285, renewing: 15 }
const path = '/graphql'

/** Measures a bare router before workload 1, with and without the response cache, at the same mix of requests. */
export async function measureCached({ rounds, seconds, only = /./ }: RemoteOptions): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const { supergraph } = await startShop(stack)
  const started: { name: string; running: Running; mix(milliseconds: number): Promise<LoadResult[]>; samples: number[] }[] = []
  for (const [state, env] of Object.entries(contenders)) {
    const name = `own router, response cache ${state}`
    if (!only.test(name)) continue
    const port = await freePort()
    const running = stack.use(
      start(join(import.meta.dirname, '../../router/main.ts'), ['router', '--supergraph', supergraph, '--port', String(port)], {
        core: measuredCore,
        silent: true,
        nodeOptions: young,
        env: { LOG_LEVEL: 'warn', ...env },
      }),
    )
    const expected = await firstAnswer({ name, path }, port)
    const mix = (milliseconds: number) => {
      const each = { port, path, body, connections: 10, milliseconds, expected }
      return Promise.all([load({ ...each, rate: rates.repeated }), load({ ...each, rate: rates.renewing, headers: { 'cache-control': 'no-cache' } })])
    }
    started.push({ name, running, mix, samples: [] })
  }
  for (const { mix } of started) await mix(4000)
  for (let round = 0; round < rounds; round++) {
    for (const { name, running, mix, samples } of started) {
      const before = running.cpu()
      const results = await mix(seconds * 1000)
      const answers = results.reduce((sum, each) => sum + each.answers, 0)
      if (results.some(({ bad }) => bad > 0)) throw new Error(`${name} answered some of ${answers} requests wrongly`)
      samples.push((running.cpu() - before) / answers)
    }
  }
  return started.map(({ name, running, samples }) => ({ name, samples, notes: { MB: running.memory().toFixed(0) } }))
}
