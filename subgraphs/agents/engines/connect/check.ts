import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { ConnectorRow, ToolRow } from '../../stores/connector.ts'
import { callCatalogueTool } from './catalogue/call.ts'
import { catalogueTools } from './catalogue/tools.ts'
import type { Connect } from './connect.ts'
import { type DescribedTool, listTools } from './mcp/client.ts'
import { callFailure } from './outcome.ts'
import { platformTools } from './platform/tools.ts'
import { joinTools } from './tools.ts'

/** How long a check may take, in ms, and how many tools of a connector are known. */
const timeoutMs = 10_000
const maxTools = 100

/** What a check changes on a connector, given the tools that are known by then. */
export type Checked = (known: readonly ToolRow[]) => Pick<ConnectorRow, 'status' | 'message' | 'tools'>

/** Calls a connector and reads its tools. It never rejects for what the other side does. */
export async function checkOf(connect: Connect, connector: ConnectorRow, signal?: AbortSignal): Promise<Checked> {
  if (connector.kind === 'PLATFORM') return known => ({ status: 'HEALTHY', message: null, tools: withOwnTools(platformTools, known) })
  if (connector.kind === 'MOBILE_APP_CATALOGUE') return checkOfCatalogue(connect, connector)
  const headers = await connect.headersFor(connector)
  const began = performance.now()
  try {
    const described = await listTools({ outbound: connect.way.outbound, url: connector.baseUrl!, headers, timeoutMs, signal }, maxTools)
    return healthy(described)
  } catch (error) {
    signal?.throwIfAborted()
    const { message } = callFailure(error, { isSent: false, isLate: performance.now() - began >= timeoutMs, seconds: timeoutMs / 1_000 })
    return known => ({ status: 'FAILING', message: error instanceof OutboundFailure ? `${message} Look at its address.` : message, tools: known })
  }
}

/** Asks the developer platform for its apps; its tools are known. */
async function checkOfCatalogue(connect: Connect, connector: ConnectorRow): Promise<Checked> {
  const url = connect.developersUrl
  if (url === null)
    return known => ({ status: 'FAILING', message: 'No developer platform is configured (DEVELOPERS_URL).', tools: withOwnTools(catalogueTools, known) })
  const end = await callCatalogueTool(connect, { url, connector, tool: 'list_apps', arguments: {}, timeoutMs })
  const failure = end !== 'interrupted' && 'failure' in end ? end.failure : null
  return known => ({ status: failure ? 'FAILING' : 'HEALTHY', message: failure?.message ?? null, tools: withOwnTools(catalogueTools, known) })
}

/** Tools of ours as they are now, with what the organization allows. */
const withOwnTools = (tools: readonly ToolRow[], known: readonly ToolRow[]): readonly ToolRow[] =>
  tools.map(tool => {
    const before = known.find(({ name }) => name === tool.name)
    return before ? { ...tool, permission: before.permission, risk: before.risk } : tool
  })

const healthy =
  (described: readonly DescribedTool[]): Checked =>
  known => ({ status: 'HEALTHY', message: null, tools: joinTools(known, described) })
