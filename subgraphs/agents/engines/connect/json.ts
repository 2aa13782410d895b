import type { Json } from '../../stores/workflow.ts'

/** Makes a value of another server storable: without NUL and halves of characters. */
export function storable(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (Array.isArray(value)) return value.map(storable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [storable(name) as string, storable(each)]))
}

/** Whether PostgreSQL keeps a value of which this is the JSON: without NUL and halves of characters. */
export const isStorable = (json: string): boolean => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(json)

/** Whether a value can be the arguments of a tool. */
export const isObject = (value: Json): value is Readonly<Record<string, Json>> => typeof value === 'object' && value !== null && !Array.isArray(value)
