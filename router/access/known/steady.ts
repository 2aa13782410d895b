import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../../subgraphs/viewer.ts'

/** Maximum number of remembered viewers. */
const mostViewers = 10_000

/**
 * Returns the same viewer object for a caller for as long as the viewer's contents are equal, whatever credential it
 * came from, because distributed subgraphs receive seals cached for it.
 * @returns the viewer remembered `by` this name, if it is equal, else the given one
 */
export function createSteady(): (by: string, viewer: Viewer) => Viewer {
  const lately = new LRUCache<string, Viewer>({ max: mostViewers })
  return (by, viewer) => {
    const known = lately.get(by)
    if (known && isDeepStrictEqual(known, viewer)) return known
    lately.set(by, viewer)
    return viewer
  }
}
