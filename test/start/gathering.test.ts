import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { Counter, Registry } from 'prom-client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { gather } from '../../router/start/apart/gather.ts'
import { handOn } from '../../router/start/apart/handed.ts'
import { type Channel, openColleagues, type Word } from '../../router/start/process/colleagues.ts'

/** A worker's process, as the one knows it that keeps it: what it was told. */
function worker() {
  const told: Word[] = []
  const process = Object.assign(new EventEmitter(), { pid: 1, connected: true, send: (word: Word) => Boolean(told.push(word)) })
  const last = <About extends Word['about']>(about: About) => told.findLast(word => word.about === about) as Extract<Word, { about: About }> | undefined
  return { process: process as unknown as ChildProcess, told, last }
}
const figures = (count: number) => `# HELP asked_total h\n# TYPE asked_total counter\nasked_total ${count}\n`
const readyAt = (url: string) => ({ about: 'ready', url, banner: [], facts: {} })

/** Has nothing come by its time being over. */
function withoutPatience() {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Workers that are there, of which so many serve. */
function gathered(of: number, serving = of) {
  const gathering = gather(of)
  const workers = Array.from({ length: of }, worker)
  for (const [at, { process }] of workers.entries()) gathering.heard({ about: 'here', worker: at + 1 }, process)
  for (const [at, { process }] of workers.slice(0, serving).entries()) gathering.heard(readyAt(`http://${at}`), process)
  return { gathering, workers, heard: (at: number, word: object) => gathering.heard(word, workers[at]!.process), last: workers[0]!.last }
}

describe('the parent of worker processes', () => {
  test('tells each worker how many serve, and whether all of them did once; the first worker’s report is kept', () => {
    const { gathering, workers, heard, last } = gathered(2, 1)
    expect(last('serving')).toEqual({ about: 'serving', serving: 1, of: 2, complete: false })
    heard(1, readyAt('http://1'))
    expect(workers.map(each => each.last('serving'))).toEqual(Array(2).fill({ about: 'serving', serving: 2, of: 2, complete: true }))
    workers[1]!.process.emit('exit', null, 'SIGKILL')
    expect(last('serving')).toEqual({ about: 'serving', serving: 1, of: 2, complete: true })
    expect(gathering.started?.url).toBe('http://0')
    expect(gathering.ready()).toEqual([workers[0]!.process])
  })

  test('pings each worker, and reports one as silent after several missed pings, whatever the others answer', () => {
    const { gathering, workers, heard } = gathered(2)
    for (let round = 0; round < 3; round++) {
      expect(gathering.silentFor(3)).toEqual([])
      heard(0, { about: 'turn' })
    }
    expect(gathering.silentFor(3)).toEqual([workers[1]!.process])
    expect(workers.map(({ told }) => told.filter(({ about }) => about === 'turn').length)).toEqual([4, 3])
    heard(1, { about: 'turn' })
    expect(gathering.silentFor(3)).toEqual([])
  })

  test('does not ask a worker that is not ready yet or no longer listens', () => {
    const { gathering, workers, heard } = gathered(2, 1)
    heard(0, { about: 'gone' })
    expect(workers[0]!.last('gone')).toEqual({ about: 'gone' })
    for (let round = 0; round < 5; round++) expect(gathering.silentFor(3)).toEqual([])
    expect(gathering.ready()).toEqual([])
  })

  test('counts once for all concurrent requests, and waits for each serving worker', async () => {
    const { workers, heard, last } = gathered(2)
    heard(0, { about: 'all' })
    heard(1, { about: 'all' })
    expect(workers.map(({ told }) => told.filter(({ about }) => about === 'count').length)).toEqual([1, 1])
    const { round } = last('count')!
    heard(0, { about: 'counted', round, figures: figures(1) })
    expect(last('everything')).toBeUndefined()
    heard(1, { about: 'counted', round, figures: figures(2) })
    await expect.poll(() => workers.map(each => each.last('everything')?.figures.slice(0, 2))).toEqual(Array(2).fill([figures(1), figures(2)]))
    heard(0, { about: 'all' })
    await expect.poll(() => last('count')!.round).toBe(round + 1)
  })

  test('ignores answers of former rounds; an ended worker is not awaited, and its counts stay', async () => {
    withoutPatience()
    const { workers, heard, last } = gathered(2)
    heard(0, { about: 'all' })
    for (const at of [0, 1]) heard(at, { about: 'counted', round: 1, figures: figures(1) })
    await expect.poll(() => last('everything')).toBeDefined()
    workers[0]!.told.length = 0
    heard(0, { about: 'all' })
    heard(0, { about: 'counted', round: 2, figures: figures(10) })
    heard(1, { about: 'counted', round: 1, figures: figures(2) })
    await new Promise(resolve => setImmediate(resolve))
    expect(last('everything')).toBeUndefined()
    workers[1]!.process.emit('exit', 1, null)
    // Its last output may arrive after its end.
    heard(1, { about: 'counted', round: 2, figures: figures(99) })
    await new Promise(resolve => setImmediate(resolve))
    expect(last('everything')?.figures).toEqual([figures(10), figures(2), expect.stringContaining('supergraph_process_ends_total 1\n')])
  })

  test('tells a new worker which graph the others use', () => {
    const { gathering, workers, heard } = gathered(2)
    expect(workers[1]!.last('graph')).toEqual({ about: 'graph', sdl: null })
    heard(0, { about: 'graph', sdl: 'type Query { a: Int }' })
    const next = worker()
    gathering.heard({ about: 'here', worker: 3 }, next.process)
    expect(next.last('graph')).toEqual({ about: 'graph', sdl: 'type Query { a: Int }' })
  })

  test('sends nothing over a closed channel', () => {
    const { workers, heard } = gathered(2)
    Object.assign(workers[1]!.process, { connected: false })
    const before = workers[1]!.told.length
    heard(0, readyAt('http://0'))
    expect(workers[1]!.told.length).toBe(before)
  })
})

/** What a worker has in place of a process: a channel to whoever keeps it. */
function channel({ isOpen = true } = {}) {
  const said: Word[] = []
  const ends = new EventEmitter()
  const own = Object.assign(ends, { send: (word: Word) => said.push(word) > 0 && isOpen }) as unknown as Channel
  return { own, said, tell: (word: Word) => void ends.emit('message', word) }
}

describe('a worker process', () => {
  test('is ready once all of them have served, stays so when one ends, and reports that end', async () => {
    const { own, said, tell } = channel()
    const { readiness } = openColleagues(new Registry(), 1, own)
    expect(said).toEqual([{ about: 'here', worker: 1 }])
    await expect(readiness.check()).rejects.toThrow('0 of those that share this port serve')
    tell({ about: 'serving', serving: 1, of: 2, complete: false })
    await expect(readiness.check()).rejects.toThrow('1 of 2 serve')
    tell({ about: 'serving', serving: 2, of: 2, complete: true })
    expect(await readiness.check()).toBeUndefined()
    tell({ about: 'serving', serving: 1, of: 2, complete: true })
    expect(await readiness.check()).toBe('1 of 2 serve: what ended is started again')
  })

  test('answers a request for figures under its number, and a ping', async () => {
    const registry = new Registry()
    new Counter({ name: 'asked_total', help: 'h', registers: [registry] }).inc(3)
    const { own, said, tell } = channel()
    openColleagues(registry, 1, own)
    tell({ about: 'turn' })
    expect(said.at(-1)).toEqual({ about: 'turn' })
    tell({ about: 'count', round: 7 })
    await expect.poll(() => said.at(-1)).toEqual({ about: 'counted', round: 7, figures: figures(3) })
  })

  test('that cannot read its figures logs a warning and continues', async () => {
    const registry = new Registry()
    const mistake = new Error('This figure cannot be read.')
    new Counter({
      name: 'asked_total',
      help: 'h',
      registers: [registry],
      collect() {
        throw mistake
      },
    })
    const { own, said, tell } = channel()
    openColleagues(registry, 1, own)
    const warned = once(process, 'warning')
    tell({ about: 'count', round: 7 })
    expect(await warned).toEqual([mistake])
    tell({ about: 'turn' })
    expect(said).toEqual([{ about: 'here', worker: 1 }, { about: 'turn' }])
  })

  test('returns the summed figures of all workers, and those of the next answer to later requests', async () => {
    const { own, said, tell } = channel()
    const colleagues = openColleagues(new Registry(), 1, own)
    const [one, other] = [colleagues.figures(), colleagues.figures()]
    expect(said.slice(1)).toEqual([{ about: 'all' }, { about: 'all' }])
    tell({ about: 'everything', figures: [figures(1), figures(2)] })
    expect(await Promise.all([one, other])).toEqual([figures(3), figures(3)])
    const later = colleagues.figures()
    tell({ about: 'everything', figures: [figures(5)] })
    expect(await later).toBe(figures(5))
  })

  test('ends when its parent has confirmed, or at once without a parent', async () => {
    withoutPatience()
    const open = channel()
    let hasLeft = false
    const left = openColleagues(new Registry(), 1, open.own)
      .leave()
      .then(() => {
        hasLeft = true
      })
    expect(open.said.at(-1)).toEqual({ about: 'gone' })
    await new Promise(resolve => setImmediate(resolve))
    expect(hasLeft).toBe(false)
    open.tell({ about: 'gone' })
    await left
    await openColleagues(new Registry(), 1, channel({ isOpen: false }).own).leave()
  })

  /** A worker whose channel leads to the process that keeps it. */
  function colleague(gathering: ReturnType<typeof gather>) {
    const { own, tell } = channel()
    const process = Object.assign(new EventEmitter(), { pid: 1, connected: true, send: tell }) as unknown as ChildProcess
    Object.assign(own, { send: (word: Word) => gathering.heard(word, process) })
    return openColleagues(new Registry(), 1, own)
  }
  const Ada = { name: 'Ada', isKnown: true }

  test('finds documents that were registered at another one, and at one that has ended', async () => {
    const gathering = gather(2)
    const [first, second] = [colleague(gathering), colleague(gathering)]
    expect(await second.documents.find('hash', Ada)).toBeUndefined()
    await first.documents.keep('hash', '{ a }', Ada)
    expect(await second.documents.find('hash', Ada)).toBe('{ a }')
    expect(await colleague(gathering).documents.find('hash', { name: 'Grace', isKnown: true })).toBe('{ a }')
    expect(await second.documents.find('other', Ada)).toBeUndefined()
  })

  test('continues without shared documents when no answer comes in time, or the channel is closed', async () => {
    withoutPatience()
    const silent = openColleagues(new Registry(), 1, channel().own)
    const found = Promise.all([silent.documents.find('hash', Ada), silent.documents.keep('hash', '{ a }', Ada)])
    await vi.advanceTimersByTimeAsync(500)
    expect(await found).toEqual([undefined, undefined])
    expect(await openColleagues(new Registry(), 1, channel({ isOpen: false }).own).documents.find('hash', Ada)).toBeUndefined()
  })

  test('sends at most 32 unanswered document requests for one caller, 256 in all, and more once they are answered', async () => {
    const { own, said, tell } = channel()
    const { documents } = openColleagues(new Registry(), 1, own)
    const questions = () => said.filter(each => each.about === 'find-document')
    const asked = Array.from({ length: 33 }, () => documents.find('hash', Ada))
    expect(await asked.pop()).toBeUndefined()
    expect(questions()).toHaveLength(32)
    const others = Array.from({ length: 230 }, (_, at) => documents.find('hash', { name: String(at), isKnown: false }))
    expect(questions()).toHaveLength(256)
    for (const { call } of questions()) tell({ about: 'document', call, text: '{ a }' })
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['{ a }']))
    expect((await Promise.all(others)).filter(each => each === undefined)).toHaveLength(6)
    const again = documents.find('hash', Ada)
    tell({ about: 'document', call: questions().at(-1)!.call, text: '{ a }' })
    expect(await again).toBe('{ a }')
  })

  test('learns the graph of the others, and reports its own', async () => {
    const { own, said, tell } = channel()
    const colleagues = openColleagues(new Registry(), 1, own)
    tell({ about: 'graph', sdl: 'type Query { a: Int }' })
    expect(await colleagues.graph).toBe('type Query { a: Int }')
    colleagues.answersBy('type Query { b: Int }')
    expect(said.at(-1)).toEqual({ about: 'graph', sdl: 'type Query { b: Int }' })
  })
})

test('pending connections of a worker that ends go to another one, and no accepted ones', async () => {
  const { process, told } = worker()
  handOn(process)
  const cluster = (words: object) => ({ cmd: 'NODE_CLUSTER', ...words })
  const heard: unknown[] = []
  process.on('internalMessage', message => heard.push(message))
  const send = process.send!.bind(process) as (message: object) => boolean
  for (const seq of [1, 2, 3]) expect(send(cluster({ act: 'newconn', seq }))).toBe(true)
  send(cluster({ act: 'disconnect', seq: 4 }))
  send({ act: 'newconn', seq: 5 })
  expect(told).toHaveLength(5)
  process.emit('internalMessage', cluster({ ack: 2, accepted: true }))
  process.emit('exit', null, 'SIGKILL')
  // Behind what Node does itself.
  expect(heard).toHaveLength(1)
  await new Promise(resolve => setImmediate(resolve))
  expect(heard.slice(1)).toEqual([1, 3].map(ack => cluster({ ack, accepted: false })))
})
