import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'graphql'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { identify, type ProcessIdentity } from '../../../db/process-table.ts'
import { createChanging } from '../../../router/engine/native/changing.ts'
import { openPlanning, type PlanningOptions } from '../../../router/engine/plan/apart/planning.ts'
import { createPool } from '../../../router/engine/plan/apart/pool.ts'
import { startPlanner } from '../../../router/engine/plan/apart/process.ts'
import { createAskers } from '../../../router/engine/plan/plan-text.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { tariffs } from '../../differential/graphs/tariffs.ts'
import { gone, until } from '../../kit/launch.ts'
import { library } from '../library-graph.ts'
import { compose, type Part, testGraph } from '../supergraph-fixture.ts'

const claimed = (caller: string) => ({ caller, organization: caller })

const types = ['T0', 'T1', 'T2']
const typesWith = (fields: string) => types.map(name => `type ${name} implements Node @key(fields: "id") { ${fields} }`).join(' ')
const one = { __typename: 'T0', id: '1' }
const Node = { __resolveType: () => 'T0' }

/** An interface that two subgraphs know whole and a third without `next`: then the planner tries every type at every level, by two ways. */
const parts: Record<string, Part> = {
  whole: {
    sdl: `type Query { node: Node @shareable } interface Node { id: ID! next: Node } ${typesWith('id: ID! next: Node @shareable')}`,
    resolvers: { Query: { node: () => one }, Node, T0: { next: () => one } },
  },
  twin: {
    sdl: `type Query { node: Node @shareable } interface Node { id: ID! next: Node } ${typesWith('id: ID! next: Node @shareable')}`,
    resolvers: { Query: { node: () => one }, Node, T0: { next: () => one } },
  },
  part: { sdl: `type Query { other: Int } interface Node { id: ID! } ${typesWith('id: ID!')}` },
}
const sdl = compose(parts)
const chain = (length: number) => `next { ${'next { '.repeat(length - 1)} id ${'}'.repeat(length)}`
const nodes = (count: number, length: number, name = 'n') =>
  `{ ${Array.from({ length: count }, (_, n) => `${name}${n}: node { ${chain(length)} }`).join(' ')} }`
/** Passes every bound on what is planned, and takes seconds. */
const dear = nodes(10, 6)
/** Would be planned for very long: its time grows with the square of its fields, and more. */
const endless = (n = 0) => nodes(60, 6, `e${n}_`)
const usual = (n = 0) => `{ u${n}: node { id } }`

/** Planners for one test, for which operations wait as long as it takes, and how many operations they stopped. */
function planners(options: Partial<PlanningOptions> = {}, supergraph = sdl) {
  let stopped = 0
  const warned: unknown[] = []
  const log = { warn: (fields: unknown) => void warned.push(fields) }
  const planning = openPlanning({ sdl: supergraph }, { planMs: 3_600_000, timeoutMs: 3_600_000, log, stopped: () => stopped++, ...options })
  const plan = async (text: string, caller = 'somebody') => (await planning.planTexts([text], createAskers(caller)))[0]
  return { ...planning, plan, warned, stopped: () => stopped, [Symbol.asyncDispose]: () => planning.close() }
}
const whoRuns = (pids: readonly number[]): ProcessIdentity[] => pids.flatMap(pid => identify(pid) ?? [])
/** @returns whether it was there to be ended: one that was may have gone by itself */
function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL')
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ESRCH') throw cause
    return false
  }
}
/** What a promise comes to, where it may not have come yet. */
function watched<Result>(promise: Promise<Result>) {
  const seen = { promise, settled: false, error: undefined as unknown }
  promise.then(
    () => {
      seen.settled = true
    },
    error => {
      seen.settled = true
      seen.error = error
    },
  )
  return seen
}

describe('an operation that takes too long to plan', () => {
  test('is rejected, its planner process replaced, and the next operation planned', async () => {
    await using planning = planners({ planMs: 700 })
    const graph = testGraph(parts, { planTexts: () => planning.planTexts })
    await planning.ready()
    const [before] = planning.pids()
    const was = whoRuns([before!])
    expect((await graph.run(dear)).errors).toEqual([
      { message: 'The operation takes too long to plan; ask for less at once.', extensions: { code: 'BAD_USER_INPUT' } },
    ])
    expect(planning.stopped()).toBe(1)
    for (const each of was) await gone(each)
    expect(planning.pids()).not.toContain(before)
    expect((await graph.run(usual())).data).toEqual({ u0: { id: '1' } })
    // No accident: nobody is to look into the log for it.
    expect(graph.logged).toEqual([])
  })

  test('is rejected at once for a minute, under other names too, and then tried again', async () => {
    let time = 1
    await using planning = planners({ planMs: 300, now: () => time })
    const graph = testGraph(parts, { planTexts: () => planning.planTexts })
    const ask = async (source = dear) => (await graph.run(source)).errors![0]!.extensions!.code
    expect(await ask()).toBe('BAD_USER_INPUT')
    const pids = planning.pids()
    expect([await ask(), await ask(`query Other ${dear}`), planning.stopped()]).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT', 1])
    expect(planning.pids()).toEqual(pids)
    time += 61_000
    expect([await ask(), planning.stopped()]).toEqual(['BAD_USER_INPUT', 2])
  })

  test('delays no other operation and does not block the request process', async () => {
    await using planning = planners()
    const graph = testGraph(parts, { planTexts: () => planning.planTexts })
    const stuck = watched(planning.plan(endless(), 'one'))
    for (let n = 0; n < 20; n++) expect((await graph.run(usual(n), {}, { claim: claimed(`other ${n % 3}`) })).errors).toBeUndefined()
    expect(stuck.settled).toBe(false)
  })

  test('has one time limit for all its root fields if it is a mutation', async () => {
    await using planning = planners({ planMs: 1500 })
    // Each by itself is planned in time; all together would take a minute.
    const texts = Array.from({ length: 300 }, (_, n) => nodes(10, 3, `m${n}_`))
    await expect(planning.planTexts(texts, createAskers('one'))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(planning.stopped()).toBe(1)
  })

  test('does not time out because the machine itself was suspended', async () => {
    const planner = startPlanner(sdl, { name: 'first', megabytes: 256 })
    await planner.ready
    const asked = planner.plan([usual()], 800)
    await Promise.resolve()
    process.kill(planner.pid!, 'SIGSTOP')
    for (const until = performance.now() + 1200; performance.now() < until; );
    process.kill(planner.pid!, 'SIGCONT')
    expect(await asked).toEqual([{ plan: expect.objectContaining({ kind: 'Fetch' }) }])
    await planner.end()
  })

  test('is rejected when it exceeds the memory limit', async () => {
    const planner = startPlanner(sdl, { name: 'first', megabytes: 20 })
    await expect(planner.plan([endless()], 3_600_000)).rejects.toThrow('20 MB')
    await planner.end()
    // One that keeps much of it afterwards ends as well, with its answer given.
    const small = startPlanner(sdl, { name: 'first', megabytes: 60 })
    expect(await small.plan([usual()], 60_000)).toEqual([{ plan: expect.objectContaining({ kind: 'Fetch' }) }])
    expect(small.isOver).toBe(true)
    await small.end()
  })
})

describe('callers take turns at planners', () => {
  test('gives each caller one planner at a time, the caller with the least recent work first', async () => {
    await using planning = planners()
    const mine = Array.from({ length: 5 }, (_, n) => watched(planning.plan(endless(n), 'one')))
    const also = watched(planning.plan(usual(), 'one'))
    expect(await planning.plan(usual(1), 'other')).toMatchObject({ kind: 'Fetch' })
    // Two stuck callers hold both planners; the next free planner goes to a caller that has not used them.
    const theirs = watched(planning.plan(endless(9), 'another'))
    const next = watched(planning.plan(usual(2), 'third'))
    const [, second] = await until('both plan', () => planning.pids().length === 2 && planning.pids())
    expect([...mine, also, theirs, next].some(({ settled }) => settled)).toBe(false)
    kill(second)
    await until('the third caller is answered', () => next.settled)
    expect([next.error, mine.some(({ settled }) => settled), also.settled]).toEqual([undefined, false, false])
  })

  test('serves callers with less recent work first, whatever the order of requests', async () => {
    await using planning = planners()
    await planning.plan(nodes(10, 4), 'busy')
    for (const n of [0, 1]) watched(planning.plan(endless(n), `stuck ${n}`))
    const pids = await until('both planners have something', () => planning.pids().length === 2 && planning.pids())
    const busy = watched(planning.plan(usual(0), 'busy'))
    const quiet = planning.plan(usual(1), 'quiet')
    kill(pids[1])
    expect(await quiet).toMatchObject({ kind: 'Fetch' })
    expect(busy.settled).toBe(false)
  })

  test('limits the waiting operations of one caller without rejecting other callers', async () => {
    await using planning = planners()
    const mine = Array.from({ length: 40 }, (_, n) => watched(planning.plan(endless(n), 'one')))
    await until('those that are too many are refused', () => mine.filter(({ settled }) => settled).length === 7)
    expect(mine.filter(({ error }) => error).every(({ error }) => (error as { code: string }).code === 'RATE_LIMITED')).toBe(true)
    expect(await planning.plan(usual(), 'other')).toMatchObject({ kind: 'Fetch' })
  })

  test('plans an operation of several callers once, at the turn of the first of them', async () => {
    await using planning = planners()
    const graph = testGraph(parts, { planTexts: () => planning.planTexts })
    const stuck = watched(planning.plan(endless(), 'one'))
    const waits = graph.run(usual(), {}, { claim: claimed('one') })
    const joined = graph.run(usual(), {}, { claim: claimed('other') })
    expect([(await joined).data, (await waits).data]).toEqual([{ u0: { id: '1' } }, { u0: { id: '1' } }])
    expect(stuck.settled).toBe(false)
  })
})

test('requests for the same text share one plan, made at the turn of the first caller', async () => {
  await using planning = planners()
  const stuck = watched(planning.plan(endless(), 'one'))
  const waits = planning.plan(usual(), 'one')
  const joined = await planning.plan(usual(), 'other')
  expect(await waits).toBe(joined)
  expect(stuck.settled).toBe(false)
})

test.skipIf(process.platform !== 'linux')('a planner is told nothing of the environment of the process that it plans for', async () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('IDENTITY_SECRET', 'swordfish')
  await using planning = planners()
  await planning.ready()
  const told = readFileSync(`/proc/${planning.pids()[0]}/environ`, 'utf8').split('\0').filter(Boolean)
  const own = ['UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX', 'NODE_COMPILE_CACHE', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE']
  expect(told.filter(each => !own.includes(each.split('=')[0]!))).toEqual([])
  expect(told).toContain('UV_THREADPOOL_SIZE=1')
})

describe('a planner process that ends by itself', () => {
  test('is replaced when it was idle', async () => {
    await using planning = planners()
    await planning.ready()
    const [pid] = planning.pids()
    kill(pid)
    await until('it is gone', () => whoRuns([pid!]).length === 0)
    expect(await planning.plan(usual())).toMatchObject({ kind: 'Fetch' })
  })

  test('has its operation planned by another process, once; after that only this operation is rejected', async () => {
    await using planning = planners()
    const starting = planning.plan(usual())
    kill(planning.pids()[0])
    expect(await starting).toMatchObject({ kind: 'Fetch' })
    const stuck = watched(planning.plan(endless()))
    const [first] = planning.pids()
    kill(first)
    const [second] = await until('another has it', () => planning.pids().length === 1 && !planning.pids().includes(first!) && planning.pids())
    // From here on it is at work: one that ends before says nothing of what it would have planned.
    await planning.ready()
    expect(stuck.settled).toBe(false)
    kill(second)
    await until('it is refused', () => stuck.settled)
    expect(String(stuck.error)).toContain('SIGKILL')
    expect(await planning.plan(usual(2))).toMatchObject({ kind: 'Fetch' })
    await expect(planning.plan(endless())).rejects.toThrow('Planners end over this operation')
  })

  test.skipIf(process.platform !== 'linux')('or is stopped, as whatever hangs, is no mistake of the operation that it has: another plans it', async () => {
    await using planning = planners({ planMs: 700 })
    await planning.ready()
    const [pid] = planning.pids()
    const was = whoRuns([pid!])
    process.kill(pid!, 'SIGSTOP')
    expect(await planning.plan(usual())).toMatchObject({ kind: 'Fetch' })
    expect(planning.stopped()).toBe(0)
    for (const each of was) await gone(each)
  })

  test('because of an operation, such as an alias that crashes the library, fails no other operation', async () => {
    await using planning = planners({}, compose(tariffs.parts))
    const falls = planning.plan('{ parcels { abroad id: sender { ... on Person { id } } } }')
    const others = Array.from({ length: 5 }, (_, n) => planning.plan(`{ p${n}: parcels { id weight } }`, `other ${n}`))
    await expect(falls).rejects.toThrow('SIGABRT')
    expect((await Promise.all(others)).every(plan => plan?.kind === 'Fetch')).toBe(true)
  })

  test('at any moment, repeatedly, leaves no caller without an answer', async () => {
    await using planning = planners()
    const asked = Array.from({ length: 60 }, (_, n) => watched(planning.plan(nodes(5, 3, `k${n}_`), `caller ${n}`)))
    let killed = 0
    await until('everybody has an answer', () => {
      if (killed < 15) for (const pid of planning.pids().slice(0, 1 + (killed % 2))) killed += kill(pid) ? 1 : 0
      return asked.every(({ settled }) => settled)
    })
    expect(killed).toBeGreaterThanOrEqual(2)
    expect(asked.filter(({ error }) => error && !/SIGKILL|has ended/.test(String(error)))).toEqual([])
    expect(await planning.plan(usual())).toMatchObject({ kind: 'Fetch' })
  })
})

describe('closing the planner', () => {
  test('ends every process, and rejects waiting operations', async () => {
    const planning = planners()
    const all = ['one', 'other', 'third'].map((caller, n) => watched(planning.plan(endless(n), caller)))
    const pids = await until('both plan', () => planning.pids().length === 2 && planning.pids())
    const running = whoRuns(pids)
    await planning.close()
    for (const each of running) await gone(each)
    expect(all.map(({ error }) => (error as { code: string }).code)).toEqual(['UPSTREAM_FAILED', 'UPSTREAM_FAILED', 'UPSTREAM_FAILED'])
    await expect(planning.plan(usual())).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  })

  test('ends the processes also when their parent dies, whatever they plan', async () => {
    const plan = join(import.meta.dirname, '../../../router/engine/plan')
    const text = `import { openPlanning } from ${JSON.stringify(join(plan, 'apart/planning.ts'))}
      import { createAskers } from ${JSON.stringify(join(plan, 'plan-text.ts'))}
      const planning = openPlanning({ sdl: process.env.SDL }, { planMs: 3_600_000, log: console })
      planning.planTexts([process.env.TEXT], createAskers('one'))
      await planning.ready()
      console.log(planning.pids()[0])`
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', text], {
      env: { SDL: sdl, TEXT: endless() },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    parent.stdout.on('data', chunk => {
      said += chunk
    })
    const pid = await until('it plans', () => /^\d+\n/.test(said) && Number(said))
    const planner = whoRuns([pid])
    expect(planner.length).toBe(1)
    parent.kill('SIGKILL')
    await gone(planner[0]!)
  })

  test('for a replaced graph ends its running plans; operations of the new graph are planned', async () => {
    await using next = planners()
    const former = planners()
    const graphs = [former, next].map(planning => testGraph(parts, { planTexts: () => planning.planTexts }))
    const engine = createChanging(graphs[0]!.engine)
    const request = (source: string) => ({ document: parse(source), viewer: anonymous, requestId: 'request-1' })
    const old = request(dear)
    const under = engine.execute(old)
    await engine.change(graphs[1]!.engine)
    expect((await engine.execute(request(usual()))).errors).toBeUndefined()
    await former.close()
    expect((await under).errors?.[0]?.extensions.code).toBe('UPSTREAM_FAILED')
  })
})

test('the second planner plans what the first one cannot, in a process of its own', async () => {
  await using planning = planners({}, compose(library))
  const graph = testGraph(library, { planTexts: () => planning.planTexts })
  const answer = await graph.run('{ book(id: "b3") { reviews { book { postage } } } }')
  expect(answer.text).toBe('{"book":{"reviews":[{"book":{"postage":3300}}]}}')
  expect(planning.pids().length).toBe(2)
})

test('an additional planner process ends when it is idle for a while', async () => {
  const start = () => startPlanner(sdl, { name: 'first', megabytes: 256 })
  const bounds = { waiting: { each: 32, all: 500 }, timeoutMs: 60_000, planMs: 60_000 }
  const pool = createPool({ start, atOnce: 2, staying: 1, idleMs: 50, ...bounds, log: { warn() {} } })
  const made = await Promise.all(['one', 'other'].map((caller, n) => pool.ask([usual(n)], createAskers(caller))))
  expect(made.flat().every(each => 'plan' in each)).toBe(true)
  await until('one stays', () => pool.pids().length === 1)
  const [pid] = pool.pids()
  expect(await pool.ask([usual(2)], createAskers('one'))).toMatchObject([{ plan: { kind: 'Fetch' } }])
  expect(pool.pids()).toEqual([pid])
  await pool.close()
})

test('reports an unreadable supergraph before the first operation', async () => {
  await using planning = planners({}, 'type Query { a: Missing } {')
  await expect(planning.ready()).rejects.toThrow()
})

test('reports an error of the library about the client’s input as the client’s mistake', async () => {
  await using planning = planners()
  const deep = `{ node { ${'... on T0 { '.repeat(120)} id ${'} '.repeat(120)} } }`
  await expect(planning.plan(deep)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('too deep') })
})
