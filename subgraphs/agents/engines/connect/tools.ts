import type { ToolRow } from '../../stores/connector.ts'
import type { Risk } from '../../stores/workflow.ts'
import { limits as ofRuns } from '../run/plan.ts'
import type { DescribedTool } from './mcp/client.ts'

/** What is stored of a tool at most, in characters, and of all tools of a connector in bytes. */
const max = { name: 128, title: 200, description: 4_000, bytes: 200_000 }

/** How much harm a new tool is taken to be able to do, by what it says of itself. */
const riskOf = ({ readOnly, destructive }: DescribedTool): Risk => (readOnly ? 'LOW' : destructive ? 'HIGH' : 'MEDIUM')

const storable = (text: string | null, most: number): string | null => text && (text.replaceAll('\0', '').slice(0, most).toWellFormed() || null)

/**
 * Joins the tools that a server describes with what is known of them: permission and risk of a known tool stay, a new one is AUTO when it
 * only reads, else ASK. Tools that are named twice, or that cannot be stored, are left out; a schema that is too large is not kept.
 */
export function joinTools(known: readonly ToolRow[], described: readonly DescribedTool[]): readonly ToolRow[] {
  const tools: ToolRow[] = []
  let bytes = 0
  for (const tool of described) {
    const { name, readOnly, idempotent } = tool
    if (name === '' || name.length > max.name || !/^[\x21-\x7e]+$/.test(name) || tools.some(each => each.name === name)) continue
    const before = known.find(each => each.name === name)
    const schema = JSON.stringify(tool.inputSchema)
    const isStorable = Buffer.byteLength(schema) <= ofRuns.jsonBytes && !/\\u0000|\\ud[89a-f]/i.test(schema)
    const joined: ToolRow = {
      ...{ name, title: storable(tool.title, max.title), description: storable(tool.description, max.description) },
      inputSchema: isStorable ? tool.inputSchema : { type: 'object' },
      ...{ permission: before?.permission ?? (readOnly ? 'AUTO' : 'ASK'), risk: before?.risk ?? riskOf(tool), readOnly, idempotent },
    }
    bytes += Buffer.byteLength(JSON.stringify(joined))
    if (bytes > max.bytes) break
    tools.push(joined)
  }
  return tools
}
