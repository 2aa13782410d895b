import { type DocumentNode, validate } from 'graphql'
import { LRUCache } from 'lru-cache'
import { anonymous } from '../../../subgraphs/viewer.ts'
import type { Engine, OperationRequest, Remains } from '../engine.ts'

/** An engine whose graph can be replaced while it runs. */
export interface ChangingEngine extends Engine {
  /**
   * Plans the most frequent operations on another engine, then switches to it. Operations that were read before finish
   * on the former engine, and so do streams that are the same on both.
   */
  change(next: Engine): Promise<void>
  /** Resolves once no stream runs on a former engine any more. */
  idle(former: Engine): Promise<void>
}

/**
 * Number of documents whose frequency is known, of documents planned before a change, and of former engines that
 * streams keep: each holds its schema and its connections.
 */
const most = { known: 1000, planned: 200, former: 4 }

export function createChanging(first: Engine): ChangingEngine {
  let current = first
  const owners = new WeakMap<DocumentNode, Engine>()
  const asked = new LRUCache<DocumentNode, number>({ max: most.known })
  const listeners: ((remains: Remains) => void)[] = []
  const streams = createStreams()
  const of = (document: DocumentNode): Engine => owners.get(document) ?? current
  return {
    get schema() {
      return current.schema
    },
    execute: request => of(request.document).execute(request),
    async executeIncrementally(request) {
      const engine = of(request.document)
      return engine.executeIncrementally ? engine.executeIncrementally(request) : engine.execute(request)
    },
    async prepareStream(request) {
      const engine = of(request.document)
      const prepared = await engine.prepareStream(request)
      if (!('start' in prepared)) return prepared
      const start: typeof prepared.start = (signal, inTurn) => {
        streams.enter(engine, signal)
        return prepared.start(signal, inTurn)
      }
      return { ...prepared, start }
    },
    idle: former => streams.idle(former),
    warm: (operations, viewer) => current.warm(operations, viewer),
    plans: () => current.plans?.() ?? noPlans,
    onChange(listener) {
      listeners.push(listener)
    },
    adopt(document) {
      if (!owners.has(document)) owners.set(document, current)
      asked.set(document, (asked.get(document) ?? 0) + 1)
    },
    async change(next) {
      const often = [...asked.entries()].sort(([, one], [, other]) => other - one).slice(0, most.planned)
      await next.warm(
        often.map(([document]) => document).filter(document => validate(next.schema, document).length === 0),
        anonymous,
      )
      const former = current
      current = next
      asked.clear()
      const kept = streams.latest(most.former)
      for (const tell of listeners) tell(async stream => kept.has(owners.get(stream.request.document)!) && isSameOn(next, stream))
      former.retire?.()
    },
  }
}

/** Whether an engine would run a stream as the one did on which it began. */
async function isSameOn(next: Engine, { request, basis }: { readonly request: OperationRequest; readonly basis: string }): Promise<boolean> {
  if (validate(next.schema, request.document).length > 0) return false
  const prepared = await next.prepareStream(request)
  return 'start' in prepared && prepared.basis?.() === basis
}

/** Knows the engines on which streams run, in the order of their first stream. */
function createStreams() {
  const open = new Map<Engine, { readonly signals: Set<AbortSignal>; readonly over: PromiseWithResolvers<void> }>()
  return {
    enter(engine: Engine, signal: AbortSignal) {
      const of = open.get(engine) ?? { signals: new Set<AbortSignal>(), over: Promise.withResolvers<void>() }
      if (signal.aborted || of.signals.has(signal)) return
      open.set(engine, of)
      of.signals.add(signal)
      const leave = () => {
        of.signals.delete(signal)
        if (of.signals.size > 0) return
        open.delete(engine)
        of.over.resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
    },
    idle: async (engine: Engine): Promise<void> => open.get(engine)?.over.promise,
    latest: (count: number): ReadonlySet<Engine> => new Set([...open.keys()].slice(-count)),
  }
}

const noPlans = { operations: 0, bytes: 0, hits: 0, misses: 0 }
