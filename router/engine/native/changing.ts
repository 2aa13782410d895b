import { type DocumentNode, validate } from 'graphql'
import { LRUCache } from 'lru-cache'
import { anonymous } from '../../../subgraphs/viewer.ts'
import type { Engine } from '../engine.ts'

/** An engine whose graph may become another one while it runs. */
export interface ChangingEngine extends Engine {
  /** Makes another engine ready for what is asked most, and lets it answer from then on. What was read before ends where it was read. */
  change(next: Engine): Promise<void>
}

/** Of how many documents it is known how often they were asked, and how many of them are planned before a change. */
const most = { known: 1000, planned: 200 }

export function createChanging(first: Engine): ChangingEngine {
  let current = first
  const owners = new WeakMap<DocumentNode, Engine>()
  const asked = new LRUCache<DocumentNode, number>({ max: most.known })
  const listeners: (() => void)[] = []
  const of = (document: DocumentNode): Engine => owners.get(document) ?? current
  return {
    get schema() {
      return current.schema
    },
    execute: request => of(request.document).execute(request),
    prepareStream: request => of(request.document).prepareStream(request),
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
      for (const tell of listeners) tell()
      former.retire?.()
    },
  }
}

const noPlans = { operations: 0, bytes: 0, hits: 0, misses: 0 }
