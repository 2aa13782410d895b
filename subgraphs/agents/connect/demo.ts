import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { listTools } from '../engines/connect/mcp/client.ts'
import { joinTools } from '../engines/connect/tools.ts'
import type { ToolPermission } from '../stores/connector.ts'
import { limits } from './connector/rules.ts'

const name = 'Sandbox tools'

/** What the demo's organization allows beside what a check would. */
const permissions: Readonly<Record<string, ToolPermission>> = { create_note: 'AUTO', read_notes: 'AUTO', send_letter: 'ASK', purge: 'DENY', refuse: 'AUTO' }

/**
 * Makes the demo's connector to the sandbox's server of tools, unless it is there.
 * @param job     in the owner's name
 * @param sandbox origin of the sandbox
 * @throws when the sandbox does not answer
 */
export async function provideDemoConnector(
  job: Job,
  { organizationId, userId, sandbox }: { readonly organizationId: string; readonly userId: string; readonly sandbox: string },
): Promise<string> {
  const id = idOfName(organizationId, name)
  if (await job.connectors.find(id)) return id
  const baseUrl = `${sandbox}/mcp`
  const described = await listTools({ outbound: job.connect.way.outbound, url: baseUrl, headers: {}, timeoutMs: 5_000 }, limits.tools)
  const tools = joinTools([], described).map(tool => ({ ...tool, permission: permissions[tool.name] ?? tool.permission }))
  await inTransaction(job, async ({ transaction, now }) => {
    // A process that starts at the same moment waits here and finds it.
    await job.connectors.madeFor(organizationId, transaction)
    if (await job.connectors.lock(id, transaction)) return
    const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${userId}` }
    await job.connectors.insert({ id, organizationId, name, kind: 'MCP', baseUrl, status: 'HEALTHY', checkedAt: now, tools, ...stamps }, transaction)
  })
  return id
}
