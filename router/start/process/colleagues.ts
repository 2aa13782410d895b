import cluster from 'node:cluster'
import type { Registry } from 'prom-client'
import { DomainError, NotReady } from '../../../platform/errors.ts'
import { StartError } from '../../../start-error.ts'
import type { SharedRegistered } from '../../door/documents/registered.ts'
import type { ReadinessCheck } from '../../door/health.ts'
import type { DropCause, ResponseCache } from '../../engine/transport/cache/store.ts'
import type { Callbacks } from '../../engine/transport/streams/callback.ts'
import { together } from '../../metrics/together.ts'
import type { Reporter } from './reporter.ts'
import { type AskWorker, answerQuestion, type CallbackWord, openQuestions } from './shared/callbacks.ts'
import { type DocumentAnswer, type DocumentRequest, openSharedDocuments } from './shared/documents.ts'

/** Messages between processes that serve one port together and their parent process. */
export type Word =
  /** From a worker: it has started, under its number, and does not serve yet. */
  | { readonly about: 'here'; readonly worker: number }
  /** From a worker: it cannot start, with the reason. */
  | { readonly about: 'mistake'; readonly sentence: string }
  | ({ readonly about: 'ready' } & Started)
  /** To all workers, whenever the number of serving ones changes. */
  | ({ readonly about: 'serving' } & Serving)
  /** To all workers: request for their figures. */
  | { readonly about: 'count'; readonly round: number }
  | { readonly about: 'counted'; readonly round: number; readonly figures: string }
  /** A ping to each worker, and its answer. */
  | { readonly about: 'turn' }
  /** Figures of all workers, requested from one of them. */
  | { readonly about: 'all' }
  | { readonly about: 'everything'; readonly figures: readonly string[] }
  /** From a worker: the supergraph that it answers by from now on; to a new worker: the latest one of any worker. */
  | { readonly about: 'graph'; readonly sdl: string | null }
  /** From a worker: it no longer listens; and the answer, behind all connections on their way to it. */
  | { readonly about: 'gone' }
  /** What a worker dropped from its response cache; and the same to all others. */
  | { readonly about: 'dropped'; readonly labels: readonly string[]; readonly cause: DropCause }
  | DocumentRequest
  | DocumentAnswer
  | CallbackWord

/** Number of serving workers. */
export interface Serving {
  readonly serving: number
  readonly of: number
  /** Whether all workers have served at some time. */
  readonly complete: boolean
}

/** A process's report of readiness. */
export type Started = Omit<Parameters<Reporter['ready']>[0], 'seconds'>

/** The processes that serve a port together, from the view of one of them. */
export interface Colleagues {
  /** Whether all of them have begun to serve. A worker that ends later is only logged: the others take its requests. */
  readonly readiness: ReadinessCheck
  /**
   * Sums of all workers' figures, in Prometheus' text format. @throws DomainError when the parent process does not answer
   */
  figures(): Promise<string>
  /** The supergraph of the latest answer of any worker; null if there is none, or no reply in time. */
  readonly graph: Promise<string | null>
  /** Reports the supergraph by which this worker answers. */
  answersBy(sdl: string): void
  /** Registered documents of all workers. */
  readonly documents: SharedRegistered
  /** Number of this worker among them. */
  readonly worker: number
  /** Asks another worker about calls of subgraphs; `answer` says what answers such questions here. */
  readonly callbacks: { readonly ask: AskWorker; answer(own: Callbacks): void }
  /** Lets the response caches of all workers drop what one of them drops. */
  share(cache: Pick<ResponseCache, 'onDrop' | 'follow'>): void
  /**
   * Resolves when no connection is on its way to this worker any more: the parent may not know yet that it has stopped
   * to listen.
   */
  leave(): Promise<void>
}

/** Time limit in ms for an answer of the parent process. */
const timeoutMs = 4_000
/** Time limit in ms for an answer of the parent process while this worker ends. */
const mostLeaveMs = 500

/** The messaging functions of a process that was started by another one. */
export type Channel = Pick<NodeJS.Process, 'send' | 'on'>

/** Joins the workers of the same port. @param registry the figures of this process @param worker number of this process */
export function openColleagues(registry: Registry, worker: number, channel: Channel = process): Colleagues {
  let known: Serving | null = null
  let waiting: ((texts: readonly string[]) => void)[] = []
  let shared: Pick<ResponseCache, 'follow'> | null = null
  const left = Promise.withResolvers<void>()
  const graph = Promise.withResolvers<string | null>()
  setTimeout(graph.resolve, timeoutMs, null).unref()
  const say = (word: Word) => channel.send?.(word, () => {})
  const documents = openSharedDocuments(say)
  const questions = openQuestions(say)
  let called: Callbacks | null = null
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
    if (word.about === 'asked') say({ about: 'answered', call: word.call, by: word.by, answer: called && answerQuestion(called, word.question) })
    if (word.about === 'answer') questions.receive(word)
    if (word.about === 'dropped') shared?.follow(word.labels, word.cause)
    if (word.about === 'everything') for (const answer of waiting) answer(word.figures)
  })
  say({ about: 'here', worker })
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
      const late = setTimeout(
        () => reject(new DomainError('UPSTREAM_FAILED', 'What the other processes of this port count is not known: ask again.')),
        timeoutMs,
      )
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
    worker,
    callbacks: {
      ask: questions.ask,
      answer(own) {
        called = own
      },
    },
    share(cache) {
      shared = cache
      cache.onDrop((labels, cause) => void say({ about: 'dropped', labels, cause }))
    },
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
 * Reports readiness and start errors of a worker to its parent process, which prints them once for all; in
 * human-readable output a worker prints warnings only.
 */
export function reportToKeeper(reporter: Reporter, worker: number, json: boolean, channel: Channel = process): Reporter {
  const say = (word: Word) => channel.send?.(word, () => {})
  return {
    say: (sentence, facts) => json && reporter.say(sentence, { worker, ...facts }),
    warn: (sentence, facts) => reporter.warn(json ? sentence : `worker ${worker}: ${sentence}`, { worker, ...facts }),
    ready: ({ url, banner, facts }) => say({ about: 'ready', url, banner, facts }),
    complain: error => (error instanceof StartError ? say({ about: 'mistake', sentence: error.message }) : reporter.complain(error)),
  }
}

/**
 * Lets this process shut down in order when its parent is gone: Node would end a cluster's worker at once, with all
 * requests in progress.
 */
export function endInOrder(): void {
  process.prependOnceListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  })
}
