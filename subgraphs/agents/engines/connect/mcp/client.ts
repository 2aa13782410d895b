import type { WayOut } from '../../../../../platform/outbound/outbound.ts'
import type { Json } from '../../../stores/workflow.ts'
import type { CallEnd } from '../../run/interpret.ts'
import { callFailure, ToolError } from '../outcome.ts'
import { fetchThrough } from './fetch.ts'

/** The packages of the protocol are loaded at the first call. */
const load = async () => {
  const [{ Client }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  return { Client, StreamableHTTPClientTransport, ...types }
}

type Loaded = Awaited<ReturnType<typeof load>>
type McpClient = InstanceType<Loaded['Client']>

/** A server of the Model Context Protocol, and how it is called. */
export interface McpServer {
  readonly outbound: Pick<WayOut, 'stream'>
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Time limit of the whole exchange, in ms. */
  readonly timeoutMs: number
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal | undefined
}

/** A tool as a server describes it. */
export interface DescribedTool {
  readonly name: string
  readonly title: string | null
  readonly description: string | null
  readonly inputSchema: Json
  readonly readOnly: boolean
  readonly idempotent: boolean
  readonly destructive: boolean
}

/** Codes of JSON-RPC by which a server says that it did not take a request. */
const notTaken: readonly number[] = [-32700, -32600, -32601, -32602]

const maxPages = 20

/** One exchange with a server: connects, works, and leaves. */
async function within<Result>(
  { outbound, url, headers, timeoutMs, signal }: McpServer,
  work: (client: McpClient, loaded: Loaded, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const loaded = await load()
  const ended = new AbortController()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  const over = AbortSignal.any([ended.signal, AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
  const fetch = fetchThrough({ outbound, headers, signal: over, totalMs: timeoutMs, broken: broken.reject })
  const transport = new loaded.StreamableHTTPClientTransport(new URL(url), { fetch })
  const client = new loaded.Client({ name: 'supergraph', version: '1.0.0' })
  const exchange = async (): Promise<Result> => {
    await client.connect(transport as unknown as Parameters<McpClient['connect']>[0], { signal: over, timeout: timeoutMs })
    const result = await work(client, loaded, over)
    // A server that keeps sessions may forget this one; whether it does is its own affair.
    if (transport.sessionId !== undefined) await transport.terminateSession().catch(() => {})
    return result
  }
  try {
    return await Promise.race([exchange(), broken.promise])
  } finally {
    ended.abort()
    await client.close().catch(() => {})
  }
}

/** Reads the tools of a server, at most so many. @throws what `connectionFailure` explains */
export const listTools = (server: McpServer, max: number): Promise<readonly DescribedTool[]> =>
  within(server, async (client, { ListToolsResultSchema }, signal) => {
    const tools: DescribedTool[] = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages && tools.length < max; page += 1) {
      const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } } as const
      const listed = await client.request(request, ListToolsResultSchema, { signal, timeout: server.timeoutMs })
      for (const { name, title, description, inputSchema, annotations } of listed.tools)
        tools.push({
          ...{ name, title: title ?? annotations?.title ?? null, description: description ?? null, inputSchema: inputSchema as Json },
          readOnly: annotations?.readOnlyHint ?? false,
          idempotent: annotations?.idempotentHint ?? false,
          destructive: annotations?.destructiveHint ?? true,
        })
      cursor = listed.nextCursor
      if (cursor === undefined) break
    }
    return tools.slice(0, max)
  })

/** A call of a tool. */
export interface ToolCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, Json>>
  readonly idempotencyKey: string
}

/**
 * Calls a tool once, under its idempotency key.
 * @returns its output, `structuredContent` or else `{ text }`; or why there is none, and whether it may have had an effect
 */
export async function callMcpTool(server: McpServer, { tool, arguments: given, idempotencyKey }: ToolCall): Promise<CallEnd> {
  let isSent = false
  const deadline = performance.now() + server.timeoutMs
  try {
    const answer = await within(server, async (client, { CallToolResultSchema, McpError }, signal) => {
      isSent = true
      const request = { method: 'tools/call', params: { name: tool, arguments: { ...given }, _meta: { idempotencyKey } } } as const
      const result = await client.request(request, CallToolResultSchema, { signal, timeout: server.timeoutMs }).catch(error => {
        throw error instanceof McpError && notTaken.includes(error.code) ? new ToolError(error.message) : error
      })
      const text = result.content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
      if (result.isError) throw new ToolError(text || `The tool ${tool} has failed.`)
      return (result.structuredContent ?? { text }) as Json
    })
    return { answer }
  } catch (error) {
    return { failure: callFailure(error, { isSent, isLate: performance.now() >= deadline, seconds: server.timeoutMs / 1_000 }) }
  }
}
