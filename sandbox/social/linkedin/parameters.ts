import type { Call } from '../../network.ts'

/** A list of keys as the interface writes it, `List(a,b)`; undefined when it is none. */
export function keysIn({ query }: Call, name = 'ids'): readonly string[] | undefined {
  const inside = /^List\((.*)\)$/.exec(query.get(name) ?? '')?.[1]
  return inside === undefined ? undefined : inside.split(',').filter(key => key !== '')
}

/** The part of a list that is asked for, ten elements unless somebody says more. */
export function pageOf<Element>({ query }: Call, all: readonly Element[]): { readonly elements: readonly Element[]; readonly paging: object } {
  const whole = (name: string, otherwise: number) => (/^\d{1,6}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : otherwise)
  const [start, count] = [whole('start', 0), Math.min(whole('count', 10), 100)]
  return { elements: all.slice(start, start + count), paging: { start, count, links: [], total: all.length } }
}

/** The object in a body; nothing where it is none. */
export function objectIn(call: Call): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(call.body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
