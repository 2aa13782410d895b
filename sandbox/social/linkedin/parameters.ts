import type { Call } from '../../network.ts'

/** Parses a list of keys in the interface's notation, `List(a,b)`; undefined for anything else. */
export function keysIn({ query }: Call, name = 'ids'): readonly string[] | undefined {
  const inside = /^List\((.*)\)$/.exec(query.get(name) ?? '')?.[1]
  return inside === undefined ? undefined : inside.split(',').filter(key => key !== '')
}

/** Returns the requested page of a list, ten elements by default. */
export function pageOf<Element>({ query }: Call, all: readonly Element[]): { readonly elements: readonly Element[]; readonly paging: object } {
  const whole = (name: string, otherwise: number) => (/^\d{1,6}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : otherwise)
  const [start, count] = [whole('start', 0), Math.min(whole('count', 10), 100)]
  return { elements: all.slice(start, start + count), paging: { start, count, links: [], total: all.length } }
}

/** Parses the JSON object of a body; undefined for anything else. */
export function objectIn(call: Call): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(call.body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
