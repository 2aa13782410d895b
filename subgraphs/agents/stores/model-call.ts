import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, table, texts, uuid, whole } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'

export const modelCalls = table('agents.model_calls', {
  id: uuid.key,
  organizationId: uuid,
  agentId: uuid,
  callId: uuid,
  runIds: texts.or([]),
  costMicros: whole,
  inputTokens: whole,
  outputTokens: whole,
  at: moment,
})

export type ModelCallRow = Row<typeof modelCalls>

/** What models cost in all, and how much they read and wrote. */
export interface Cost {
  readonly costMicros: bigint
  readonly inputTokens: number
  readonly outputTokens: number
}

export const noCost: Cost = { costMicros: 0n, inputTokens: 0, outputTokens: 0 }

const add = statement(
  `insert into agents.model_calls (id, organization_id, agent_id, call_id, run_ids, cost_micros, input_tokens, output_tokens, at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (call_id) do nothing`,
)
const spentSince = statement(
  `select agent_id as "agentId", sum(cost_micros)::bigint as spent from agents.model_calls where agent_id = any($1::uuid[]) and at >= $2 group by agent_id`,
)
const ofRuns = statement(
  `select run as "runId", sum(c.cost_micros)::bigint as "costMicros", sum(c.input_tokens)::float8 as "inputTokens", sum(c.output_tokens)::float8 as "outputTokens"
     from agents.model_calls c, unnest(c.run_ids) run
    where c.run_ids && $1::text[] and run = any($1::text[]) group by run`,
)

/** The first moment of a month, by UTC. */
export const monthOf = (now: Date): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))

const modelCallSql = (rows: Rows<typeof modelCalls>, { reading, clock }: StoreContext) => ({
  /** Writes down a call, once. */
  async add(call: ModelCallRow, transaction: Transaction): Promise<void> {
    const { id, organizationId, agentId, callId, runIds, costMicros, inputTokens, outputTokens, at } = call
    const values = [id, organizationId, agentId, callId, runIds, costMicros, inputTokens, outputTokens, at]
    await rows.read(add, values, transaction)
  },

  /** What an agent's models cost since a moment, in micro-dollars. */
  async spentSince(agentId: string, since: Date, transaction?: Transaction): Promise<bigint> {
    const [found] = await rows.read<{ spent: bigint }>(spentSince, [[agentId], since], transaction)
    return BigInt(found?.spent ?? 0)
  },

  /** What the models of agents that the viewer may see cost this month. */
  spentThisMonth: createLoader<string, bigint>(reading, async ids => {
    const found = new Map((await rows.read<{ agentId: string; spent: bigint }>(spentSince, [ids, monthOf(clock.now())])).map(row => [row.agentId, row.spent]))
    return ids.map(id => BigInt(found.get(id) ?? 0))
  }),

  /** What runs that the viewer may see cost, those below them included. */
  ofRun: createLoader<string, Cost>(reading, async ids => {
    const found = new Map((await rows.read<Cost & { runId: string }>(ofRuns, [ids])).map(row => [row.runId, { ...row, costMicros: BigInt(row.costMicros) }]))
    return ids.map(id => found.get(id) ?? noCost)
  }),
})

export const modelCallStore = store(modelCalls, { what: 'model call', tenancy: { by: 'organizationId' } }, modelCallSql)
