import { randomUUID } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'

/** A call of a tool that had an effect. */
interface ReceivedCall {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly tool: string
  readonly text: string | null
  readonly arguments: Arguments
  readonly idempotencyKey: string | null
  readonly serviceId: string | null
  readonly appId: string | null
  readonly organizationId: string | null
}

interface Note {
  readonly id: string
  readonly text: string
}

type Arguments = Readonly<Record<string, unknown>>

interface Tool {
  readonly description: string
  readonly fields: readonly string[]
  readonly output?: Readonly<Record<string, object>>
  readonly annotations: { readonly readOnlyHint: boolean; readonly idempotentHint?: boolean; readonly destructiveHint?: boolean }
}

/** Supported revisions of the protocol, newest first; a client that asks for an unknown revision gets the newest. */
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26']
const text = { type: 'string' }
const notes = { type: 'array', items: { type: 'object', properties: { id: text, text }, required: ['id', 'text'] } }

const tools: Readonly<Record<string, Tool>> = {
  create_note: {
    ...{ description: 'Creates a note; the same _meta.idempotencyKey creates it once.', fields: ['text'], output: { id: text, text } },
    annotations: { readOnlyHint: false, idempotentHint: true, destructiveHint: false },
  },
  send_letter: {
    ...{ description: 'Sends a letter, each time anew.', fields: ['to', 'text'], output: { id: text } },
    annotations: { readOnlyHint: false, idempotentHint: false, destructiveHint: false },
  },
  read_notes: { description: 'Finds notes by a part of their text.', fields: ['query'], output: { notes }, annotations: { readOnlyHint: true } },
  purge: { description: 'Removes all notes.', fields: [], annotations: { readOnlyHint: false, destructiveHint: true } },
  refuse: { description: 'Refuses, always.', fields: [], annotations: { readOnlyHint: false, destructiveHint: false } },
}

const objectOf = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const listed = Object.entries(tools).map(([name, { description, fields, output, annotations }]) => ({
  ...{ name, title: name.replaceAll('_', ' '), description, annotations },
  inputSchema: objectOf(Object.fromEntries(fields.map(field => [field, text]))),
  ...(output && { outputSchema: objectOf(output) }),
}))

interface Message {
  readonly jsonrpc?: unknown
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** A server of the Model Context Protocol over Streamable HTTP, without sessions: each request is answered with JSON. */
export const mcp: Vendor = { title: 'an MCP server', play }

function play(name: string, { state, faults, clock }: Deps): Network {
  const received = state.collection<ReceivedCall>(`${name}.received`, 1_000)
  const kept = state.collection<Note>(`${name}.notes`, 1_000)
  const byKey = state.collection<Note>(`${name}.keys`, 1_000)

  const act = (tool: string, args: Arguments, key: string | null): object => {
    if (tool === 'purge') {
      for (const { id } of [...kept.values()]) kept.delete(id)
      return { content: [{ type: 'text', text: 'All notes are gone.' }] }
    }
    const id = randomUUID()
    if (tool === 'send_letter') return structured({ id })
    const note = { id, text: String(args.text) }
    kept.set(id, note)
    if (key !== null) byKey.set(key, note)
    return structured(note)
  }

  const callTool = async (call: Call, message: Message): Promise<Reply> => {
    const { name: tool, arguments: given = {}, _meta: meta } = message.params ?? {}
    const known = typeof tool === 'string' && Object.hasOwn(tools, tool) ? tools[tool] : undefined
    if (!known) return problem(200, message, -32602, `Unknown tool: ${tool}`)
    const args = given as Arguments
    const wrong = wrongWith(known, args)
    if (wrong) return result(message, failed(wrong), 'refused')
    if (tool === 'refuse') return result(message, failed('Refused.'), 'refused')
    if (tool === 'read_notes') {
      const found = [...kept.values()].filter(note => note.text.includes(String(args.query)))
      return result(message, structured({ notes: found }), 'read')
    }
    const wanted = (meta as Arguments | undefined)?.idempotencyKey
    const key = typeof wanted === 'string' ? wanted : null
    const earlier = tool === 'create_note' && key !== null ? byKey.get(key) : undefined
    if (earlier)
      return earlier.text === args.text
        ? result(message, structured(earlier), 'read')
        : result(message, failed('The key was used for another note.'), 'refused')
    return spoilt(faults, name, {
      refuse: ({ status }) => problem(status, message, -32603, 'The sandbox was told to refuse this.'),
      take() {
        const header = (field: string): string | null => [call.headers[field] ?? null].flat()[0] ?? null
        received.set(randomUUID(), {
          ...{ receivedAt: clock.now().toISOString(), tool: tool as string, text: typeof args.text === 'string' ? args.text : null, arguments: args },
          ...{ idempotencyKey: key, serviceId: header('x-service-id'), appId: header('x-app-id'), organizationId: header('x-organization-id') },
        })
        return result(message, act(tool as string, args, key), 'accepted')
      },
    })
  }

  const respond = (call: Call, message: Message): Reply | Promise<Reply> => {
    switch (message.method) {
      case 'initialize': {
        const asked = String(message.params?.protocolVersion)
        const protocolVersion = revisions.includes(asked) ? asked : revisions[0]
        return result(message, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'sandbox', version: '1.0.0' } }, 'read')
      }
      case 'ping':
        return result(message, {}, 'read')
      case 'tools/list':
        return result(message, { tools: listed }, 'read')
      case 'tools/call':
        return callTool(call, message)
      default:
        return problem(200, message, -32601, 'Method not found')
    }
  }

  return {
    name,
    takes: { mostBytes: 256 * 1024 },
    received: () => [...received.values()],
    answer(call) {
      const wrong = unfit(call)
      if (wrong) return wrong
      let message: Message
      try {
        message = JSON.parse(textOf(call)) as Message
      } catch {
        return problem(400, {}, -32700, 'Parse error')
      }
      if (message?.jsonrpc !== '2.0' || typeof message.method !== 'string') return problem(400, {}, -32600, 'Invalid request')
      return message.id === undefined ? { status: 202, headers: {}, body: '', outcome: 'read' } : respond(call, message)
    },
  }
}

const structured = (value: object) => ({ structuredContent: value, content: [{ type: 'text', text: JSON.stringify(value) }] })

const failed = (sentence: string) => ({ isError: true, content: [{ type: 'text', text: sentence }] })

const result = ({ id }: Message, value: object, outcome: Reply['outcome']): Reply => json(200, { jsonrpc: '2.0', id, result: value }, outcome)

const problem = (status: number, { id = undefined }: Message, code: number, message: string): Reply => ({
  ...json(status, { jsonrpc: '2.0', id: id ?? null, error: { code, message } }, 'refused'),
  reason: message,
})

/**
 * Returns the refusal of a request that violates the transport: foreign origin, wrong method, content type or revision;
 * null when it is valid.
 */
function unfit({ method, path, headers }: Call): Reply | null {
  if (path !== '' && path !== '/') return problem(404, {}, -32000, 'Not found')
  if (method !== 'POST') return { ...problem(405, {}, -32000, 'Method not allowed'), headers: { 'content-type': 'application/json', allow: 'POST' } }
  if (headers.origin !== undefined) return problem(403, {}, -32000, 'Pages of other origins are not served')
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return problem(415, {}, -32000, 'Content-Type must be application/json')
  const accept = headers.accept ?? ''
  if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
    return problem(406, {}, -32000, 'Client must accept both application/json and text/event-stream')
  const revision = headers['mcp-protocol-version']
  return revision === undefined || revisions.includes(String(revision)) ? null : problem(400, {}, -32000, `Unsupported protocol version: ${revision}`)
}

function wrongWith({ fields }: Tool, args: Arguments): string | null {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'arguments has to be an object.'
  const unknown = Object.keys(args).find(field => !fields.includes(field))
  if (unknown !== undefined) return `${unknown} is not known.`
  const missing = fields.find(field => typeof args[field] !== 'string')
  return missing === undefined ? null : `${missing} has to be a text.`
}
