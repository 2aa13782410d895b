import { newId } from '../../../../platform/ids.ts'
import type { ConnectorRow } from '../../../../subgraphs/agents/stores/connector.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** A connector with one tool, past every rule. @returns its id */
export async function seedConnector(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  organizationId: string,
  more: Partial<ConnectorRow> = {},
): Promise<string> {
  const now = clock.now()
  const id = newId(now)
  const tool = {
    name: 'create_note',
    title: null,
    description: null,
    inputSchema: {},
    permission: 'AUTO',
    risk: 'LOW',
    readOnly: false,
    idempotent: true,
  } as const
  const stamps = { createdAt: now, updatedAt: now, createdBy: 'user:seed' }
  const job = platform.agents.job('user:seed')
  await inTransaction(job, ({ transaction }) =>
    job.connectors.insert(
      { id, organizationId, name: 'Tools', kind: 'MCP', baseUrl: 'https://tools.example/mcp', tools: [tool], ...stamps, ...more },
      transaction,
    ),
  )
  return id
}
