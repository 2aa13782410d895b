import type { Wire } from '../attempt/upstream.ts'
import { isNothing } from './ignored.ts'
import { keepsBySelf } from './openai.ts'
import type { ChatRequest } from './request.ts'

/** Maximum number of names in the list. */
export const maxDropped = 50

/**
 * Returns the members of a request that the answering vendor does not support as they were sent, by their names in
 * OpenAI's protocol: `seed`, `tools.function.strict`.
 */
export function droppedOf(request: ChatRequest, wire: Wire, provider: string = wire): readonly string[] {
  const dropped = wire === 'anthropic' ? withoutWord(request) : request.keeps !== null && keepsBySelf(provider) ? ['cache_control'] : []
  return [...request.ignored, ...dropped].slice(0, maxDropped)
}

/** Returns the members that the Messages API does not support. */
function withoutWord({ messages, temperature, topP, seed, tools, responseFormat, hints }: ChatRequest): readonly string[] {
  const isShown = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content ?? [])))
  return Object.entries({
    seed: seed !== null,
    // The vendor accepts no temperature above 1, and only one of the two.
    temperature: temperature !== null && temperature > 1,
    top_p: temperature !== null && topP !== null,
    // Zero and empty values are the vendor's defaults.
    ...Object.fromEntries(Object.entries(hints).map(([name, value]) => [name, value !== 0 && !isNothing(value)])),
    'messages.name': messages.some(each => 'name' in each && each.name !== undefined),
    'messages.content.image_url.detail': isShown.some(part => part.type === 'image_url' && !['auto', undefined].includes(part.image_url.detail)),
    'tools.function.strict': tools.some(({ strict }) => strict === true),
    'response_format.json_schema.strict': responseFormat?.type === 'json_schema' && responseFormat.strict === true,
  }).flatMap(([name, isDropped]) => (isDropped ? [name] : []))
}
