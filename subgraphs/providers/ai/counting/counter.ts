import { Worker } from 'node:worker_threads'
import { createTurns } from '../../../../platform/jobs/turns.ts'
import type { CountTokens, Encoding } from '../../engines/models/engine.ts'
import type { CountTask } from './count-worker.ts'

export interface Counter {
  /** Counts tokens; when it takes too long, four bytes count as a token. */
  readonly count: CountTokens
  /** Stops exact counting: waiting and later texts are estimated by their length. */
  stop(): void
}

/** Time limit of a count in ms, thread start included, and idle time after which the thread ends. */
const timeoutMs = 5_000
const idleMs = 60_000

const byLength = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

/**
 * Counts in a worker thread: loading a vocabulary takes half a second and some 70 MB, which are released when idle.
 * Organizations take turns, weighted by the length of the text.
 */
export function openCounter(): Counter {
  const turns = createTurns({
    what: 'texts',
    places: 1,
    maxWaiting: { ofKey: Number.POSITIVE_INFINITY, inAll: Number.POSITIVE_INFINITY },
    perSecond: 1_000_000,
  })
  const stopping = Promise.withResolvers<null>()
  let isStopped = false
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined

  const begin = (): Worker => {
    const begun = new Worker(new URL('./count-worker.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 256 } })
    begun.unref()
    // Errors while nothing is being counted are ignored.
    begun.on('error', () => {})
    begun.once('exit', () => {
      if (worker === begun) worker = undefined
    })
    return begun
  }

  const end = () => {
    clearTimeout(idle)
    void worker?.terminate()
    worker = undefined
  }

  /** Returns the count; null when it took too long. */
  async function counted(task: CountTask): Promise<number | null> {
    clearTimeout(idle)
    worker ??= begin()
    const present = worker
    const result = Promise.withResolvers<number | null>()
    const fail = () => result.resolve(null)
    const timer = setTimeout(fail, timeoutMs)
    present.once('message', result.resolve).once('error', fail).once('exit', fail)
    present.postMessage(task)
    try {
      const tokens = await Promise.race([result.promise, stopping.promise])
      if (tokens === null) end()
      else idle = setTimeout(end, idleMs).unref()
      return tokens
    } finally {
      clearTimeout(timer)
      present.off('message', result.resolve).off('error', fail).off('exit', fail)
    }
  }

  return {
    async count(organizationId, encoding, { text, times }) {
      if (text === '') return 0
      const turn = { key: organizationId, weight: text.length, isPatient: true }
      const tokens = isStopped ? null : await turns.run(turn, () => (isStopped ? null : counted({ encoding, text })))
      return Math.ceil((tokens ?? byLength(text)) * times)
    },
    stop() {
      isStopped = true
      stopping.resolve(null)
      end()
    },
  }
}

/** Returns the tokenizer of a model. */
export const encodingOf = ({ upstream }: { readonly upstream: string }): Encoding =>
  /^(?:gpt-3\.5|gpt-4(?![.o\d])|text-embedding-)/.test(upstream) ? 'cl100k_base' : 'o200k_base'
