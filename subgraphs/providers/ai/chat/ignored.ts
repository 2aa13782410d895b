import { type Given, isObject } from '../wire/fields.ts'

/** Members of an object that are read; `true` for a member whose value is read whole. */
interface Shape {
  readonly [name: string]: true | Shape
}

const call: Shape = { id: true, type: true, index: true, function: { name: true, arguments: true } }
const message: Shape = {
  ...{ role: true, name: true, refusal: true, tool_call_id: true },
  cache_control: true,
  content: { type: true, text: true, refusal: true, image_url: { url: true, detail: true }, cache_control: true },
  tool_calls: call,
}
/** Known members below the first level; on the first level an unknown member is rejected. */
const read: Shape = {
  messages: message,
  stream_options: { include_usage: true },
  tools: { type: true, cache_control: true, function: { name: true, description: true, parameters: true, strict: true, cache_control: true } },
  tool_choice: { type: true, function: { name: true } },
  response_format: { type: true, json_schema: { name: true, description: true, schema: true, strict: true } },
}

/** Maximum number of names in the list. */
const maxIgnored = 30

/** Whether a value is empty: clients send an answer's empty members back. */
export const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0)

/**
 * Returns the members of a body that no vendor receives, such as `metadata` and `messages.audio`, without list indexes.
 */
export function ignoredIn(body: Given): readonly string[] {
  const names = new Set<string>()
  const look = (value: unknown, shape: Shape, path: string): void => {
    if (Array.isArray(value)) for (const each of value) look(each, shape, path)
    else if (isObject(value))
      for (const name in value) {
        if (names.size >= maxIgnored) return
        const known = Object.hasOwn(shape, name) ? shape[name]! : null
        // The name becomes part of a header.
        const at = `${path}.${name.replaceAll(/[^\w-]/g, '?').slice(0, 64)}`
        if (known === null && !isNothing(value[name])) names.add(at)
        else if (known !== null && known !== true) look(value[name], known, at)
      }
  }
  // Vendors store metadata with a conversation; the gateway stores no conversation.
  if (!isNothing(body.metadata)) names.add('metadata')
  for (const [name, shape] of Object.entries(read)) if (shape !== true) look(body[name], shape, name)
  return [...names]
}
