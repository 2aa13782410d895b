import { LRUCache } from 'lru-cache'

/** Texts of documents that clients registered, by the SHA-256 of each: Apollo's automatic persisted queries. */
export interface Registered {
  /** @param isKnown whether somebody asks whom the platform knows */
  find(hash: string, isKnown: boolean): string | undefined
  keep(hash: string, text: string, isKnown: boolean): void
}

/** How many texts are kept of callers who are known, and as many again of strangers; and bytes that each of the two may take, roughly. */
const most = { entries: 5000, bytes: 16 * 1024 * 1024 }

/**
 * Keeps registered documents, the least recently used go. Those of strangers have a place of their own: however many they register, what
 * somebody known registered, or asked for once, stays. Whoever's was dropped is told PERSISTED_QUERY_NOT_FOUND, and sends it again.
 */
export function createRegistered({ entries, bytes } = most): Registered {
  const shelf = () => new LRUCache<string, string>({ max: entries, maxSize: bytes, sizeCalculation: text => 2 * text.length + 200 })
  const [ofKnown, ofStrangers] = [shelf(), shelf()]
  return {
    find(hash, isKnown) {
      const text = ofKnown.get(hash) ?? ofStrangers.get(hash)
      if (isKnown && text !== undefined && !ofKnown.has(hash)) {
        ofKnown.set(hash, text)
        ofStrangers.delete(hash)
      }
      return text
    },
    keep(hash, text, isKnown) {
      if (!ofKnown.has(hash)) (isKnown ? ofKnown : ofStrangers).set(hash, text)
    },
  }
}
