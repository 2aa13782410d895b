import cluster from 'node:cluster'
import type { Registry } from 'prom-client'
import { NotReady, Refusal } from '../../../platform/errors.ts'
import { StartError } from '../../../start-error.ts'
import type { SharedRegistered } from '../../door/documents/registered.ts'
import type { ReadinessCheck } from '../../door/health.ts'
import { together } from '../../metrics/together.ts'
import { type DocumentAnswer, type DocumentRequest, openSharedDocuments } from './shared-documents.ts'
import type { Tell } from './tell.ts'

/** What is said between processes that serve one port together and the one that keeps them running. */
export type Word =
  /** It is there, and does not serve yet. */
  | { readonly about: 'here' }
  /** It cannot start: why. */
  | { readonly about: 'mistake'; readonly sentence: string }
  | ({ readonly about: 'ready' } & Started)
  /** To all of them, whenever it changes. */
  | ({ readonly about: 'serving' } & Serving)
  /** To all of them: what do you count? */
  | { readonly about: 'count'; readonly round: number }
  | { readonly about: 'counted'; readonly round: number; readonly figures: string }
  /** To each of them, now and then: does it have turns? And that it does. */
  | { readonly about: 'turn' }
  /** Figures of all workers, requested from one of them. */
  | { readonly about: 'all' }
  | { readonly about: 'everything'; readonly figures: readonly string[] }
  /** The supergraph by which it answers from now on; and, to one that is there now, the last one of any of them. */
  | { readonly about: 'graph'; readonly sdl: string | null }
  /** It listens no more; and the answer, behind all that was on its way to it. */
  | { readonly about: 'gone' }
  | DocumentRequest
  | DocumentAnswer

/** How many of them serve. */
export interface Serving {
  readonly serving: number
  readonly of: number
  /** Whether all of them did, once. */
  readonly complete: boolean
}

/** What a process says of itself when it is ready. */
export type Started = Omit<Parameters<Tell['ready']>[0], 'seconds'>

/** The processes that serve a port together, as one of them knows them. */
export interface Colleagues {
  /** Whether all of them have begun to serve. A worker that ends later is only logged: the others take its requests. */
  readonly readiness: ReadinessCheck
  /** What all of them count together, as Prometheus' text. @throws Refusal when whoever keeps them does not answer */
  figures(): Promise<string>
  /** The supergraph by which one of them answered last; null: none did, or nobody says so in time. */
  readonly graph: Promise<string | null>
  /** Says by which supergraph this one answers. */
  answersBy(sdl: string): void
  /** Registered documents of all of them. */
  readonly documents: SharedRegistered
  /** Resolves when no connection is on its way to this one any more: whoever hands them out may not know yet that it has stopped to listen. */
  leave(): Promise<void>
}

/** How long whoever keeps the others may take to answer, in ms. */
const patienceMs = 4_000
/** The same at the end of this one. */
const mostLeaveMs = 500

/** A process that was started by another one, as `process` is. */
export type Channel = Pick<NodeJS.Process, 'send' | 'on'>

/** Joins those that serve the same port. @param registry the figures of this process */
export function openColleagues(registry: Registry, channel: Channel = process): Colleagues {
  let known: Serving | null = null
  let waiting: ((texts: readonly string[]) => void)[] = []
  const left = Promise.withResolvers<void>()
  const graph = Promise.withResolvers<string | null>()
  setTimeout(graph.resolve, patienceMs, null).unref()
  const say = (word: Word) => channel.send?.(word, () => {})
  const documents = openSharedDocuments(say)
  channel.on('message', (word: Word) => {
    if (word.about === 'serving') known = word
    if (word.about === 'count')
      registry.metrics().then(
        figures => say({ about: 'counted', round: word.round, figures }),
        // Its last answer stays in use; a worker whose figures fail must not be ended.
        cause => process.emitWarning(cause as Error),
      )
    if (word.about === 'turn') say(word)
    if (word.about === 'graph') graph.resolve(word.sdl)
    if (word.about === 'gone') left.resolve()
    if (word.about === 'document') documents.receive(word)
    if (word.about === 'everything') for (const answer of waiting) answer(word.figures)
  })
  say({ about: 'here' })
  return {
    readiness: {
      name: 'processes',
      async check() {
        if (!known?.complete) throw new NotReady(`${known?.serving ?? 0} of ${known?.of ?? 'those that share this port'} serve`)
        if (known.serving < known.of) return `${known.serving} of ${known.of} serve: what ended is started again`
      },
    },
    async figures() {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
      const late = setTimeout(() => reject(new Refusal('UPSTREAM_FAILED', 'What the other processes of this port count is not known: ask again.')), patienceMs)
      waiting.push(resolve)
      say({ about: 'all' })
      try {
        return await together(await promise)
      } finally {
        clearTimeout(late)
        waiting = waiting.filter(each => each !== resolve)
      }
    },
    graph: graph.promise,
    documents,
    answersBy: sdl => void say({ about: 'graph', sdl }),
    async leave() {
      const late = setTimeout(left.resolve, mostLeaveMs)
      if (!say({ about: 'gone' })) left.resolve()
      await left.promise
      clearTimeout(late)
    },
  }
}

/**
 * How one of several tells what it would print otherwise: that it is ready, and why it cannot start, to whoever keeps it, who prints it once
 * for all; where lines are for eyes nothing else but warnings.
 */
export function tellKeeper(tell: Tell, worker: number, json: boolean, channel: Channel = process): Tell {
  const say = (word: Word) => channel.send?.(word, () => {})
  return {
    say: (sentence, facts) => json && tell.say(sentence, { worker, ...facts }),
    warn: (sentence, facts) => tell.warn(json ? sentence : `worker ${worker}: ${sentence}`, { worker, ...facts }),
    ready: ({ url, banner, facts }) => say({ about: 'ready', url, banner, facts }),
    complain: error => (error instanceof StartError ? say({ about: 'mistake', sentence: error.message }) : tell.complain(error)),
  }
}

/** Leaves it to this process how it ends when whoever keeps it is gone: Node ends a worker of a cluster at once, with all that is on its way. */
export function endInOrder(): void {
  process.prependOnceListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  })
}
