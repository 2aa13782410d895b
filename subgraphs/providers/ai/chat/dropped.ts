import type { Wire } from '../attempt/upstream.ts'
import { isNothing } from './ignored.ts'
import { keepsBySelf } from './openai.ts'
import type { ChatRequest } from './request.ts'

/** The most members that are named. */
export const maxDropped = 50

/**
 * Returns the members of a request that the vendor who answers cannot take, or not as they were sent, by their names on OpenAI's wire:
 * `seed`, `tools.function.strict`.
 */
export function droppedOf(request: ChatRequest, wire: Wire, provider: string = wire): readonly string[] {
  const dropped = wire === 'anthropic' ? withoutWord(request) : request.keeps !== null && keepsBySelf(provider) ? ['cache_control'] : []
  return [...request.ignored, ...dropped].slice(0, maxDropped)
}

/** What the Messages API has no word for. */
function withoutWord({ messages, temperature, topP, seed, tools, responseFormat, hints }: ChatRequest): readonly string[] {
  const isShown = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content ?? [])))
  return Object.entries({
    seed: seed !== null,
    // It has none above 1, and takes one of the two.
    temperature: temperature !== null && temperature > 1,
    top_p: temperature !== null && topP !== null,
    // Zero and nothing are what it does anyway.
    ...Object.fromEntries(Object.entries(hints).map(([name, value]) => [name, value !== 0 && !isNothing(value)])),
    'messages.name': messages.some(each => 'name' in each && each.name !== undefined),
    'messages.content.image_url.detail': isShown.some(part => part.type === 'image_url' && !['auto', undefined].includes(part.image_url.detail)),
    'tools.function.strict': tools.some(({ strict }) => strict === true),
    'response_format.json_schema.strict': responseFormat?.type === 'json_schema' && responseFormat.strict === true,
  }).flatMap(([name, isDropped]) => (isDropped ? [name] : []))
}
