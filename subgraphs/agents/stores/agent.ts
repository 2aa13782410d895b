import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { json, moment, type Row, stamps, table, text, texts, uuid, whole } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'
import type { Risk } from './workflow.ts'

export type AgentStatus = 'ACTIVE' | 'PAUSED' | 'ARCHIVED'

/** A tool that an agent may call, and under which conditions. */
export interface AgentToolRow {
  readonly connectorId: string
  readonly name: string
  readonly permission: 'AUTO' | 'ASK' | 'DENY'
  readonly risk: Risk
}

export const agents = table('agents.agents', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  description: text.maybe,
  instructions: text,
  model: text.maybe,
  knowledgeSourceIds: texts.or([]),
  tools: json.of<readonly AgentToolRow[]>().or([]),
  personProfileId: uuid.maybe,
  monthlyLimitMicros: whole.maybe,
  status: text.of<AgentStatus>().or('ACTIVE'),
  /** When managers were told that it had reached its limit. */
  budgetAlertAt: moment.maybe,
  ...stamps,
})

export type AgentRow = Row<typeof agents>

/** Whether an agent may call a tool at present. */
export const mayUse = ({ tools, status }: Pick<AgentRow, 'tools' | 'status'>, connectorId: string, tool: string): boolean =>
  status === 'ACTIVE' && tools.some(own => own.connectorId === connectorId && own.name === tool && own.permission !== 'DENY')

/** When an agent was written, and by whom. */
export interface AgentVersionRow {
  readonly agentId: string
  readonly version: number
  readonly at: Date
  readonly userId: string | null
}

/** How many versions of an agent are shown, the latest. */
export const maxVersions = 50

const addVersion = statement('insert into agents.agent_versions (agent_id, version, at, user_id) values ($1, $2, $3, $4)')
const versionsOf = statement(
  `select agent_id as "agentId", version, at, user_id as "userId" from (
     select v.*, row_number() over (partition by agent_id order by version desc) as place from agents.agent_versions v where agent_id = any($1::uuid[])
   ) v where place <= ${maxVersions} order by version desc`,
)
const endAlerts = statement('update agents.agents set budget_alert_at = null where budget_alert_at < $1 returning id')
const writtenToday = countByCaller(agents)

const agentSql = (rows: Rows<typeof agents>, { reading }: StoreContext) => ({
  /** Writes down who made the present version. */
  async addVersion({ id, version, updatedAt }: AgentRow, userId: string | null, transaction: Transaction): Promise<void> {
    await rows.read(addVersion, [id, version, updatedAt, userId], transaction)
  },

  /** The latest versions of agents that the viewer may see, newest first. */
  versions: createLoader<string, AgentVersionRow[]>(reading, async ids => {
    const found = Map.groupBy(await rows.read<AgentVersionRow>(versionsOf, [ids]), ({ agentId }) => agentId)
    return ids.map(id => found.get(id) ?? [])
  }),

  /** Forgets warnings of earlier months. @returns the agents that were warned of */
  async endAlerts(before: Date, transaction: Transaction): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(endAlerts, [before], transaction)).map(({ id }) => id)
  },

  madeBy: writtenToday(rows),
})

export const agentStore = store(agents, { what: 'agent', tenancy: { by: 'organizationId' }, filters: { status: 'eq' } }, agentSql)
