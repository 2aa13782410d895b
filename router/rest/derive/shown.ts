import { isEnumType } from 'graphql'
import { fromEnum, isRecord } from '../values.ts'
import type { Part, Shape } from './selected.ts'

/** Converts a value of the graph to what a route shows; undefined when a required part is missing. */
export type Show = (value: unknown) => unknown

/**
 * Returns the conversion for a shape: enum values in lower case, records with the route's names, lists without entries
 * that the caller may not see.
 */
export function showing(shape: Shape): Show {
  switch (shape.kind) {
    case 'leaf':
      return isEnumType(shape.type) ? value => (typeof value === 'string' ? fromEnum(value) : null) : value => value ?? null
    case 'reference':
      return value => (isRecord(value) ? value.id : null)
    case 'list':
      return listing(shape)
    case 'page':
      return pageOf('nodes', shape.nodes.shape)
    case 'object':
      return showingParts(shape.parts)
  }
}

function listing({ of, nullable }: Extract<Shape, { readonly kind: 'list' }>): Show {
  const show = showing(of)
  const ofValues = of.kind === 'leaf'
  return value => {
    if (!Array.isArray(value)) return nullable ? null : []
    if (ofValues) return value.map(show)
    const shown: unknown[] = []
    for (const each of value) {
      const made = show(each)
      if (made !== null && made !== undefined) shown.push(made)
    }
    return shown
  }
}

/** Returns the conversion of a page: its entries under their name, the next cursor, and the total. */
function pageOf(name: string, nodes: Shape): Show {
  const list = showing(nodes)
  return value => {
    if (!isRecord(value)) return null
    const { pageInfo, totalCount } = value
    const goesOn = isRecord(pageInfo) && pageInfo.hasNextPage === true
    return { [name]: list(value.nodes), nextCursor: goesOn ? pageInfo.endCursor : null, totalCount: totalCount ?? null }
  }
}

/** Returns the conversion of an object; undefined as its result when a required part is missing. */
export function showingParts(parts: readonly Part[]): Show {
  const steps = parts.map(({ name, spread, required, shape }) => ({
    name,
    spread,
    required,
    show: spread && shape.kind === 'page' ? pageOf(name, shape.nodes.shape) : showing(shape),
  }))
  return value => {
    if (!isRecord(value)) return null
    const shown: Record<string, unknown> = {}
    for (const { name, spread, required, show } of steps) {
      const made = show(value[name])
      if (required && (made === null || made === undefined)) return undefined
      if (spread) Object.assign(shown, made)
      else shown[name] = made
    }
    return shown
  }
}
