import type { ToolRow } from '../../../stores/connector.ts'
import type { Json } from '../../../stores/workflow.ts'

/** The tools of our own platform. */
export type PlatformTool = 'create_post' | 'schedule_post' | 'read_posts' | 'create_order' | 'read_orders'

/** How many a tool reads at most. */
export const mostRead = 50

const text = { type: 'string' }
const count = { type: 'integer', minimum: 1, maximum: mostRead }

const schema = (properties: Readonly<Record<string, Json>>, required: readonly string[] = []): Json => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
})

const line: Json = {
  type: 'object',
  properties: { name: text, sku: text, quantity: { type: 'integer' }, unitAmountMinor: text, discountMinor: text, taxRate: text },
  required: ['name', 'unitAmountMinor'],
}

const tool = (name: PlatformTool, description: string, inputSchema: Json, isReading: boolean): ToolRow => ({
  ...{ name, title: null, description, inputSchema, readOnly: isReading, idempotent: true },
  ...(isReading ? ({ permission: 'AUTO', risk: 'LOW' } as const) : ({ permission: 'ASK', risk: 'MEDIUM' } as const)),
})

/** The tools of our own platform, as an organization finds them. Arguments and values are those of the graph. */
export const platformTools: readonly ToolRow[] = [
  tool(
    'create_post',
    'Writes the draft of a post for a brand.',
    schema({ brandId: text, platform: text, copy: text, threadId: text }, ['brandId', 'platform', 'copy']),
    false,
  ),
  tool('schedule_post', 'Sets the time at which a post is published.', schema({ id: text, scheduledAt: text }, ['id', 'scheduledAt']), false),
  tool('read_posts', 'Lists posts, newest first.', schema({ brandId: text, status: text, search: text, first: count }), true),
  tool(
    'create_order',
    'Writes an order that waits for its payment.',
    schema({ currency: text, lines: { type: 'array', items: line }, reference: text, description: text }, ['currency', 'lines']),
    false,
  ),
  tool('read_orders', 'Lists orders, newest first.', schema({ status: text, reference: text, first: count }), true),
]

/** The arguments that a tool takes. */
export const argumentsOf = (name: PlatformTool): readonly string[] =>
  Object.keys((platformTools.find(each => each.name === name)!.inputSchema as { readonly properties: object }).properties)

/** Whether our platform has a tool of this name. */
export const isPlatformTool = (name: string): name is PlatformTool => platformTools.some(each => each.name === name)
