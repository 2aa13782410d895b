import { z } from 'zod'
import type { Payload } from '../sources.ts'

/** Bounds of a payload: list lengths and characters. */
export const max = { statistics: 12, items: 20, points: 60, key: 40, label: 80, title: 200, bytes: 256 * 1024 } as const

const words = (most: number) =>
  z
    .string()
    .max(most)
    .refine(text => text.isWellFormed() && !text.includes('\0'))

/** Whether an address leads to this machine. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '127.0.0.1' || hostname === '[::1]'

/** @param isDevelopment whether links may lead to this machine without TLS */
const linkFor = (isDevelopment: boolean) =>
  z
    .url()
    .max(2_000)
    .refine(url => {
      const target = new URL(url)
      return target.protocol === 'https:' || (isDevelopment && target.protocol === 'http:' && isLoopback(target))
    })

const missing = <Of extends z.ZodType>(of: Of) => of.nullish().transform(value => value ?? null)
const cut = <Of extends z.ZodType>(of: Of, most: number) => z.preprocess(list => (Array.isArray(list) ? list.slice(0, most) : list), z.array(of))

function shapeFor(isDevelopment: boolean) {
  const link = linkFor(isDevelopment)
  return z
    .object({
      statistics: missing(cut(z.object({ key: words(max.key), label: words(max.label), value: z.int32() }), max.statistics)),
      items: missing(
        cut(z.object({ id: words(max.title), title: words(max.title), at: missing(z.iso.datetime({ offset: true })), url: missing(link) }), max.items),
      ),
      nextAction: missing(z.object({ label: words(max.label), url: link })),
      chart: missing(z.object({ title: words(max.label), points: cut(z.object({ label: words(max.label), value: z.number() }), max.points) })),
    })
    .refine(({ statistics, items, nextAction, chart }) => statistics ?? items ?? nextAction ?? chart)
}

const shapes = { true: shapeFor(true), false: shapeFor(false) }

/**
 * Reads an app's payload: every part is optional, at least one is there, and members that are not known or too many are dropped.
 * @param isDevelopment whether links may lead to this machine without TLS
 * @returns null for what is no payload
 */
export function readPayload(text: string, isDevelopment: boolean): Payload | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return null
  }
  const { data } = shapes[`${isDevelopment}`].safeParse(body)
  if (!data) return null
  const { statistics, items, nextAction, chart } = data
  return {
    statistics: statistics ?? [],
    items: (items ?? []).map(({ at, ...item }) => ({ ...item, at: at && new Date(at).toISOString() })),
    nextAction,
    chart,
  } as Payload
}
