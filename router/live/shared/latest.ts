import type { StreamMessage } from './message.ts'

/** The latest event of each item, in the order in which the items first occurred. */
export interface Latest {
  /** @param payloads of the event, in their order; one where it comes in one piece */
  keep(about: string, payloads: readonly StreamMessage[]): void
  all(): readonly (readonly StreamMessage[])[]
  clear(): void
}

/** Maximum stored items and characters: further items are delivered only when they change. */
const most = { things: 1000, characters: 8 * 1024 * 1024 } as const

export function createLatest(): Latest {
  const kept = new Map<string, readonly StreamMessage[]>()
  let characters = 0
  return {
    keep(about, payloads) {
      characters += lengthOf(payloads) - lengthOf(kept.get(about) ?? [])
      kept.set(about, payloads)
      for (const [oldest, event] of kept) {
        if (kept.size <= most.things && characters <= most.characters) return
        kept.delete(oldest)
        characters -= lengthOf(event)
      }
    },
    all: () => [...kept.values()],
    clear() {
      kept.clear()
      characters = 0
    },
  }
}

const lengthOf = (payloads: readonly StreamMessage[]): number => payloads.reduce((sum, { json }) => sum + json.length, 0)
