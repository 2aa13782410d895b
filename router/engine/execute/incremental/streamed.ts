import { countElements } from '../../data/elements.ts'
import type { Data } from '../../data/merge.ts'
import type { Place } from '../../errors.ts'
import type { Deferral } from '../../operation/deferral.ts'
import type { Supergraph } from '../../supergraph.ts'
import { visitTargets } from '../entities.ts'
import type { StreamedList } from '../needs.ts'
import type { EntityGroup } from '../step.ts'

/** The data of one run, and its lists whose elements are fetched and sent at two times. */
export interface Streaming {
  readonly supergraph: Supergraph
  readonly data: Data
  /** Lists that are streamed, with the number of their first elements. @default none */
  readonly streams?: readonly (StreamedList & { readonly first: number })[] | undefined
}

/**
 * Does work while streamed lists hold some of their elements only: the first ones, and of one list null in their place.
 * @param rest the list of which all but the first elements are meant @default of all lists the first ones
 */
export function withElements<Result>({ streams = [], data, supergraph }: Streaming, rest: Deferral | null, work: () => Result): Result {
  const cut: { readonly list: unknown[]; readonly whole: unknown[] }[] = []
  for (const { stream, owner, key, first } of streams) {
    visitTargets(data, owner, supergraph, countElements(), object => {
      const list = object[key]
      if (!Array.isArray(list) || cut.some(each => each.list === list)) return
      cut.push({ list, whole: [...list] })
      if (stream === rest) list.fill(null, 0, first)
      else list.length = Math.min(list.length, first)
    })
  }
  try {
    return work()
  } finally {
    for (const { list, whole } of cut) for (const [index, element] of whole.entries()) list[index] = element
  }
}

/** Visits the objects at one path of a group with their places; of a streamed list the elements that a fetch is for. */
export function visitPlaces(run: Streaming, group: EntityGroup, at: number, rest: Deferral | null, visit: (object: Data, place: Place) => void): void {
  const stream = group.through[at] ?? null
  if (rest && stream !== rest) return
  const walk = () => visitTargets(run.data, group.paths[at]!, run.supergraph, countElements(), (object, place) => visit(object, place!), [])
  if (stream) withElements({ ...run, streams: run.streams?.filter(each => each.stream === stream) }, rest, walk)
  else walk()
}
