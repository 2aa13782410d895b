import type { ChildProcess } from 'node:child_process'
import { createRegistered } from '../../door/documents/registered.ts'
import { keptOf } from '../../metrics/together.ts'
import type { Started, Word } from '../process/colleagues.ts'

/** The processes that serve one port together, from the view of their parent process. */
export interface Gathering {
  /** Handles a message from one of the processes. */
  heard(message: unknown, from: ChildProcess): void
  /** First report of readiness from a process; null while none is ready. */
  readonly started: Started | null
  /** Processes that serve requests. */
  ready(): readonly ChildProcess[]
  /** Pings all serving processes. @returns those that left this number of consecutive pings unanswered */
  silentFor(times: number): readonly ChildProcess[]
}

/** Time limit in ms for a process to report its figures; after it, its former figures are used. */
const timeoutMs = 1_000

/**
 * Connects the processes that serve one port: the number that serve, and the sums of their figures. Counts of an ended
 * process are kept as last reported. Documents that clients registered at one of them are found by all.
 * @param of expected number of processes
 */
export function gather(of: number): Gathering {
  /** Whether each running process serves requests. */
  const running = new Map<ChildProcess, boolean>()
  const numbers = new Map<number, ChildProcess>()
  const counted = new Map<ChildProcess, string>()
  /** Figures of the processes that ended. */
  let former = ''
  /** Number of pings to each process since its last message. */
  const asked = new Map<ChildProcess, number>()
  let ends = 0
  let complete = false
  let started: Started | null = null
  let graph: string | null = null
  const documents = createRegistered()
  let round = 0
  /** Processes that have not answered in this round yet. */
  let missing = new Set<ChildProcess>()
  let over = () => {}
  let collecting: Promise<readonly string[]> | undefined

  const ready = () => [...running].flatMap(([child, serves]) => (serves ? [child] : []))
  const say = (to: ChildProcess, word: Word) => to.connected && to.send(word, () => {})
  const tellAll = () => {
    const serving = ready().length
    complete ||= serving === of
    for (const child of running.keys()) say(child, { about: 'serving', serving, of, complete })
  }
  const isThrough = (child: ChildProcess) => missing.delete(child) && missing.size === 0 && over()
  const collect = async (): Promise<readonly string[]> => {
    missing = new Set(ready())
    round += 1
    const answered = Promise.withResolvers<void>()
    over = answered.resolve
    if (missing.size === 0) over()
    const late = setTimeout(over, timeoutMs)
    for (const child of missing) say(child, { about: 'count', round })
    await answered.promise
    clearTimeout(late)
    return [...counted.values(), former, endsAs(ends)]
  }
  const end = (child: ChildProcess) => {
    running.delete(child)
    for (const [number, known] of numbers) if (known === child) numbers.delete(number)
    asked.delete(child)
    ends += 1
    const last = counted.get(child)
    counted.delete(child)
    if (last) former = keptOf([former, last])
    isThrough(child)
    tellAll()
  }

  return {
    get started() {
      return started
    },
    ready,
    silentFor(times) {
      const silent: ChildProcess[] = []
      for (const child of ready()) {
        const before = asked.get(child) ?? 0
        asked.set(child, before + 1)
        if (before >= times) silent.push(child)
        else say(child, { about: 'turn' })
      }
      return silent
    },
    heard(message, from) {
      const word = message as Word
      asked.delete(from)
      if (word.about === 'here') {
        running.set(from, false)
        numbers.set(word.worker, from)
        from.once('exit', () => end(from))
        say(from, { about: 'graph', sdl: graph })
        tellAll()
      }
      if (word.about === 'ready') {
        running.set(from, true)
        started ??= { url: word.url, banner: word.banner, facts: word.facts }
        tellAll()
      }
      if (word.about === 'counted' && running.has(from)) {
        counted.set(from, word.figures)
        if (word.round === round) isThrough(from)
      }
      if (word.about === 'graph') graph = word.sdl
      if (word.about === 'dropped') for (const other of running.keys()) if (other !== from) say(other, word)
      if (word.about === 'find-document') say(from, { about: 'document', call: word.call, text: documents.find(word.hash, word.caller) ?? null })
      if (word.about === 'keep-document') {
        documents.keep(word.hash, word.text, word.caller)
        say(from, { about: 'document', call: word.call, text: null })
      }
      if (word.about === 'ask-worker') {
        const { call, worker, question } = word
        const to = numbers.get(worker)
        const by = [...numbers].find(([, child]) => child === from)?.[0]
        if (to && by !== undefined) say(to, { about: 'asked', call, by, question })
        else say(from, { about: 'answer', call, answer: null })
      }
      if (word.about === 'answered') {
        const to = numbers.get(word.by)
        if (to) say(to, { about: 'answer', call: word.call, answer: word.answer })
      }
      if (word.about === 'gone') {
        running.set(from, false)
        say(from, word)
      }
      if (word.about === 'all') {
        collecting ??= collect().finally(() => {
          collecting = undefined
        })
        void collecting.then(figures => say(from, { about: 'everything', figures }))
      }
    },
  }
}

/** Writes how often a process ended, as a metric. */
const endsAs = (times: number): string => `# HELP ${endsName} Ends of processes that serve this port together; each is started again.
# TYPE ${endsName} counter
${endsName} ${times}
`

const endsName = 'supergraph_process_ends_total'
