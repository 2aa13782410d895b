import { type Given, isObject, wrong } from '../wire/fields.ts'
import { type CacheControl, nameForm, readCacheControl } from './messages.ts'

/** A function that a model may call. */
export interface Tool {
  readonly name: string
  readonly description: string | null
  /** JSON Schema of an object. */
  readonly parameters: Given | null
  readonly strict: boolean | null
  /** Mark that a vendor should cache the tool, and all tools before it, for later calls. */
  readonly cache_control?: CacheControl
}

/** Which tool must be called: none, any or none, at least one, or a certain one. */
export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string }

/** Required form of the answer. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly name: string; readonly description: string | null; readonly schema: Given; readonly strict: boolean | null }

export const mostTools = 128

export function readTools(given: unknown): readonly Tool[] {
  if (given === undefined) return []
  if (!Array.isArray(given) || given.length > mostTools) return wrong('tools', `tools is a list of at most ${mostTools} functions.`)
  const names = new Set<string>()
  return given.map((tool: unknown, index) => {
    const field = `tools[${index}]`
    if (!isObject(tool) || tool.type !== 'function' || !isObject(tool.function))
      return wrong(field, `${field} is not { "type": "function", "function": { "name": …, "parameters": … } }: only functions are supported here.`)
    const { name, description, parameters, strict } = tool.function
    if (typeof name !== 'string' || !nameForm.test(name))
      return wrong(`${field}.function.name`, `${field}.function.name takes 1 to 64 letters, digits, "_" and "-".`)
    if (names.has(name)) wrong(`${field}.function.name`, `${field} is called as another tool is: each has a name of its own.`)
    names.add(name)
    if (parameters !== undefined && parameters !== null && !isObject(parameters))
      wrong(`${field}.function.parameters`, `${field}.function.parameters is a JSON Schema of an object.`)
    return {
      name,
      description: readDescription(description, `${field}.function.description`),
      parameters: (parameters as Given | undefined) ?? null,
      strict: readStrict(strict, `${field}.function.strict`),
      ...readCacheControl(tool.cache_control ?? tool.function.cache_control, `${field}.cache_control`),
    }
  })
}

export function readToolChoice(given: unknown, tools: readonly Tool[]): ToolChoice | null {
  if (given === undefined) return null
  if (tools.length === 0) return given === 'none' || given === 'auto' ? null : wrong('tool_choice', 'tool_choice is for requests with tools.')
  if (given === 'none' || given === 'auto' || given === 'required') return given
  const name = isObject(given) && given.type === 'function' && isObject(given.function) ? given.function.name : undefined
  if (typeof name !== 'string' || tools.every(tool => tool.name !== name))
    return wrong('tool_choice', 'tool_choice is none, auto, required, or { "type": "function", "function": { "name": … } } of one of the tools.')
  return { name }
}

export function readResponseFormat(given: unknown): ResponseFormat | null {
  if (given === undefined) return null
  const field = 'response_format'
  if (!isObject(given)) return wrong(field, 'response_format is an object with a type.')
  if (given.type === 'text' || given.type === 'json_object') return { type: given.type }
  const format = given.json_schema
  if (given.type !== 'json_schema' || !isObject(format))
    return wrong(field, 'response_format is of type text, json_object, or json_schema with json_schema: { name, schema }.')
  const { name, description, schema, strict } = format
  if (typeof name !== 'string' || !nameForm.test(name)) return wrong(field, 'response_format.json_schema.name takes 1 to 64 letters, digits, "_" and "-".')
  if (!isObject(schema) || schema.type !== 'object') return wrong(field, 'response_format.json_schema.schema is a JSON Schema of an object.')
  return {
    type: 'json_schema',
    name,
    description: readDescription(description, 'response_format.json_schema.description'),
    schema,
    strict: readStrict(strict, 'response_format.json_schema.strict'),
  }
}

function readDescription(given: unknown, field: string): string | null {
  if (given === undefined || given === null) return null
  return typeof given === 'string' ? given : wrong(field, `${field} is a text.`)
}

function readStrict(given: unknown, field: string): boolean | null {
  if (given === undefined || given === null) return null
  return typeof given === 'boolean' ? given : wrong(field, `${field} is true or false.`)
}
