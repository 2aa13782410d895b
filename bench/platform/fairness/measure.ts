import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestDatabase } from '../../../test/kit/database.ts'
import setUp from '../../../test/kit/run/global-setup.ts'
import { percentile } from '../../load/load.ts'
import { loadCore, said, start } from '../../processes.ts'
import { startPlatform } from '../../publishing/platform.ts'
import { demoTenant, doors, openModels, otherTenant } from './doors.ts'
import { type Sent, send } from './send.ts'

/** Number of concurrent requests of the flooding organization. */
const connections = 200
/** Durations in ms of quiet and flood in each round, and of the warm-up. */
const ms = { quiet: 2_000, flood: 2_500, warm: 1_000 } as const
const rounds = 2

/** Maximum acceptable effect on another organization. */
const targets = { p50: (quiet: number) => 3 * quiet + 50, p99: (quiet: number) => 10 * quiet + 100 } as const

/**
 * Measures the latency of a polite organization in quiet, and while another one has 200 concurrent requests of the same
 * kind.
 * @param only protocols whose name matches
 */
export async function measureFairness({ only }: { readonly only?: RegExp | undefined }): Promise<string> {
  await using stack = new AsyncDisposableStack()
  stack.defer(await setUp())
  const database = stack.use(await createTestDatabase())
  const folder = mkdtempSync(join(tmpdir(), 'bench-fairness-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const twin = stack.use(start(new URL('../../providers/twin.ts', import.meta.url).pathname, [], { core: loadCore }))
  const { port } = await said<{ port: number }>(twin)
  const model = `http://127.0.0.1:${port}`
  const { url } = await startPlatform(stack, {
    env: { DATA_DIR: folder, DATABASE_URL: database.url, LOG_LEVEL: 'error', OPENAI_API_URL: `${model}/v1`, OUTBOUND_ALLOW: model },
  })
  const [polite, hostile] = [await demoTenant(url), await otherTenant(url)]
  await Promise.all([openModels(polite), openModels(hostile)])
  const lines: string[] = []
  for (const [name, { everyMs, sent }] of Object.entries(doors)) {
    if (only && !only.test(name)) continue
    lines.push(await measureDoor(name, sent(url, polite), sent(url, hostile), everyMs))
  }
  return [
    `| ${connections} at once | answers of the flood | median in quiet | during | at most | p99 in quiet | during | at most | |`,
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `Load of the machine in the last five minutes: ${loadavg()[1]!.toFixed(1)}.`,
  ].join('\n')
}

async function measureDoor(name: string, own: Sent, theirs: Sent, everyMs: number): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const flood = fork(join(import.meta.dirname, 'flood.ts'), [JSON.stringify(theirs), String(connections)])
  try {
    await once(flood, 'message')
    const statuses: Record<string, number> = {}
    const during = async (forMs: number) => {
      flood.send('begin')
      const took = await paced(own, agent, everyMs, forMs)
      flood.send('end')
      const [counted] = (await once(flood, 'message')) as [Record<string, number>]
      for (const [status, count] of Object.entries(counted)) statuses[status] = (statuses[status] ?? 0) + count
      return took
    }
    await paced(own, agent, everyMs, ms.warm)
    await during(ms.warm)
    const [quiet, flooded]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      quiet.push(...(await paced(own, agent, everyMs, ms.quiet)))
      flooded.push(...(await during(ms.flood)))
    }
    const [before, meanwhile] = [figuresOf(quiet), figuresOf(flooded)]
    const most = { p50: targets.p50(before.p50), p99: targets.p99(before.p99) }
    const holds = meanwhile.p50 <= most.p50 && meanwhile.p99 <= most.p99
    const answers = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`)
    const cells = [before.p50, meanwhile.p50, most.p50, before.p99, meanwhile.p99, most.p99].map(value => `${value.toFixed(1)} ms`)
    return `| ${[name, answers.join(', '), ...cells, holds ? 'holds' : '**missed**'].join(' | ')} |`
  } finally {
    flood.disconnect()
    agent.destroy()
  }
}

/**
 * Sends at fixed intervals, whatever is in progress. @returns duration of each answer in ms; an error answer ends the
 * run
 */
async function paced(sent: Sent, agent: Agent, everyMs: number, forMs: number): Promise<number[]> {
  const took: number[] = []
  const under = new Set<Promise<void>>()
  const overAt = performance.now() + forMs
  for (let due = performance.now(); due < overAt; due += everyMs) {
    await wait(Math.max(0, due - performance.now()))
    const began = performance.now()
    const one = send(sent, agent).then(status => {
      if (status < 200 || status > 299) throw new Error(`the polite organization was answered ${status} at ${sent.url}`)
      took.push(performance.now() - began)
    })
    under.add(one)
    one.then(
      () => under.delete(one),
      () => {},
    )
  }
  await Promise.all(under)
  return took
}

const figuresOf = (took: readonly number[]) => {
  const sorted = Float64Array.from(took).sort()
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
}
