import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import type { Openable } from '../../store/store.ts'

/** What an agent spent since a moment, what its calls under way may cost, and its dearest call of late; null: it has made none. */
export interface Spending {
  readonly spent: bigint
  readonly reserved: bigint
  readonly dearest: bigint | null
}

const lock = transactionLock('agents.reserved_calls')
/** Number of an agent's latest calls of which the dearest counts. */
const latest = 100
const spending = statement(
  `select (select coalesce(sum(c.cost_micros), 0) from agents.model_calls c where c.agent_id = $1 and c.at >= $2)::bigint as spent,
          (select coalesce(sum(r.micros), 0) from agents.reserved_calls r where r.agent_id = $1 and r.expires_at > $3)::bigint as reserved,
          (select max(l.cost_micros) from (select c.cost_micros from agents.model_calls c where c.agent_id = $1 order by c.at desc limit ${latest}) l)::bigint as dearest`,
)
const reserve = statement('insert into agents.reserved_calls (id, agent_id, micros, expires_at) values ($1, $2, $3, $4)')
const release = statement('delete from agents.reserved_calls where id = $1')

/** Calls of models under way, of agents near their monthly limit. */
export const reservedCallStore = {
  open: ({ sequelize }: Parameters<Openable['open']>[0]) => ({
    /** Has others who are about to reserve for this agent wait for the end of the transaction. */
    async lock(agentId: string, transaction: Transaction): Promise<void> {
      await rows(sequelize, lock, [agentId], transaction)
    },

    async spending(agentId: string, since: Date, now: Date, transaction?: Transaction): Promise<Spending> {
      const [found] = await rows<{ spent: string; reserved: string; dearest: string | null }>(sequelize, spending, [agentId, since, now], transaction)
      const { spent, reserved, dearest } = found!
      return { spent: BigInt(spent), reserved: BigInt(reserved), dearest: dearest === null ? null : BigInt(dearest) }
    },

    async reserve(
      call: { readonly id: string; readonly agentId: string; readonly micros: bigint; readonly expiresAt: Date },
      transaction: Transaction,
    ): Promise<void> {
      await rows(sequelize, reserve, [call.id, call.agentId, call.micros, call.expiresAt], transaction)
    },

    /** Ends a reservation. */
    async release(id: string, transaction?: Transaction): Promise<void> {
      await rows(sequelize, release, [id], transaction)
    },
  }),
}

/** Retention of reservations: expired ones count nothing. */
export const agingOfReservedCalls = { table: 'agents.reserved_calls', days: 1, old: 'o.expires_at < $1', order: 'o.expires_at' }
