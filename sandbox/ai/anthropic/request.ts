import { type Body, isObject, objectsIn } from '../taken.ts'

const known = [
  'model',
  'messages',
  'max_tokens',
  'cache_control',
  'container',
  'inference_geo',
  'metadata',
  'output_config',
  'service_tier',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
]

/** Returns what is wrong with a request for a message, in Anthropic's wording; null when it is valid. */
export function mistakeIn(body: Body): string | null {
  for (const name of ['model', 'max_tokens', 'messages']) if (body[name] === undefined) return `${name}: Field required`
  const strange = Object.keys(body).find(name => !known.includes(name))
  if (strange !== undefined) return `${strange}: Extra inputs are not permitted`
  if (typeof body.model !== 'string') return 'model: Input should be a valid string'
  if (!Number.isInteger(body.max_tokens)) return 'max_tokens: Input should be a valid integer'
  if ((body.max_tokens as number) < 1) return 'max_tokens: Input should be greater than or equal to 1'
  if ((body.max_tokens as number) > 64_000)
    return `max_tokens: ${body.max_tokens} > 64000, which is the maximum allowed number of output tokens for ${body.model}`
  return mistakeInMessages(body) ?? mistakeInSampling(body) ?? mistakeInTools(body)
}

function mistakeInMessages({ messages, system, stop_sequences: stops }: Body): string | null {
  const list = objectsIn(messages)
  if (!list) return 'messages: Input should be a valid list'
  if (list.length === 0) return 'messages: at least one message is required'
  for (const [at, { role, content }] of list.entries()) {
    if (role === 'system')
      return 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
    if (role !== 'user' && role !== 'assistant') return `messages.${at}.role: Input should be 'user' or 'assistant'`
    const blocks = typeof content === 'string' ? null : objectsIn(content)
    if (typeof content !== 'string' && !blocks) return `messages.${at}.content: Input should be a valid string or list`
    if ((content === '' || blocks?.length === 0) && at < list.length - 1)
      return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`
    const empty = blocks?.findIndex(({ type, text }) => type === 'text' && (typeof text !== 'string' || text === '')) ?? -1
    if (empty !== -1) return `messages.${at}.content.${empty}: text content blocks must be non-empty`
    const results = blocks?.filter(({ type }) => type === 'tool_result') ?? []
    const calls = (at > 0 ? objectsIn(list[at - 1]!.content) : null)?.filter(({ type }) => type === 'tool_use') ?? []
    const unknown = results.find(({ tool_use_id: id }) => !calls.some(call => call.id === id))
    if (unknown)
      return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    const open = calls.find(({ id }) => !results.some(({ tool_use_id: answered }) => answered === id))
    if (open) return `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.id}.`
  }
  if (system !== undefined && typeof system !== 'string' && !objectsIn(system)) return 'system: Input should be a valid string or list'
  if (stops !== undefined && !(Array.isArray(stops) && stops.every(stop => typeof stop === 'string' && stop.trim() !== '')))
    return 'stop_sequences: each stop sequence must contain non-whitespace'
  return null
}

function mistakeInSampling({ temperature, top_p: share, metadata }: Body): string | null {
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 1)) return 'temperature: range: 0..1'
  if (temperature !== undefined && share !== undefined) return '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
  const odd = isObject(metadata) ? Object.keys(metadata).find(name => name !== 'user_id') : undefined
  return odd === undefined ? null : `metadata.${odd}: Extra inputs are not permitted`
}

function mistakeInTools({ tools, tool_choice: choice, output_config: output }: Body): string | null {
  const list = tools === undefined ? [] : objectsIn(tools)
  if (!list) return 'tools: Input should be a valid list'
  const wrong = list.findIndex(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)))
  if (wrong !== -1) return `tools.${wrong}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`
  const bare = list.findIndex(({ input_schema: schema }) => !isObject(schema) || schema.type !== 'object')
  if (bare !== -1) return `tools.${bare}.custom.input_schema.type: Field required`
  if (choice !== undefined && list.length === 0) return 'tool_choice may only be specified while providing tools'
  if (choice !== undefined && !(isObject(choice) && ['auto', 'any', 'tool', 'none'].includes(String(choice.type))))
    return "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
  if (isObject(choice) && choice.type === 'tool' && !list.some(({ name }) => name === choice.name)) return `Tool '${choice.name}' not found in provided tools`
  if (output === undefined) return null
  const format = isObject(output) ? output.format : undefined
  if (format === undefined || format === null) return null
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.schema))
    return "output_config.format: Input should be a json_schema with its 'schema'"
  return format.schema.type === 'object' && format.schema.additionalProperties !== false
    ? "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    : null
}
