import type { Told } from './told.ts'

/** The latest event of each item, in the order in which the items first occurred. */
export interface Latest {
  keep(told: Told): void
  all(): readonly Told[]
  clear(): void
}

/** Maximum stored items and characters: further items are delivered only when they change. */
const most = { things: 1000, characters: 8 * 1024 * 1024 } as const

export function createLatest(): Latest {
  const kept = new Map<string, Told>()
  let characters = 0
  return {
    keep(told) {
      if (told.about === null) return
      characters += told.json.length - (kept.get(told.about)?.json.length ?? 0)
      kept.set(told.about, told)
      for (const [about, oldest] of kept) {
        if (kept.size <= most.things && characters <= most.characters) return
        kept.delete(about)
        characters -= oldest.json.length
      }
    },
    all: () => [...kept.values()],
    clear() {
      kept.clear()
      characters = 0
    },
  }
}
