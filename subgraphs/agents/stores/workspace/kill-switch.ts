import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Active stops, one row each: the id is the organization's for a stop of all its agents, else the agent's. */
export const killSwitches = table('agents.kill_switches', {
  id: uuid.key,
  organizationId: uuid,
  reason: text.maybe,
  at: moment,
  userId: uuid.maybe,
  createdBy: text,
})

/** One that is engaged. */
export type Engaged = Row<typeof killSwitches>

/** What an organization's kill switches hold. */
export interface Held {
  /** Whether nothing of the organization may begin. */
  readonly all: boolean
  /** The agents that may begin nothing. */
  readonly agents: ReadonlySet<string>
}

export const nothingHeld: Held = { all: false, agents: new Set() }

const held = statement('select id from agents.kill_switches where organization_id = $1')
const heldFor = statement('select id from agents.kill_switches where organization_id = $1 for key share')
const engage = statement(
  `insert into agents.kill_switches (id, organization_id, reason, at, user_id, created_by) values ($1, $2, $3, $4, $5, $6)
   on conflict (id) do nothing returning ${selectList(killSwitches, 'kill_switches')}`,
)
const release = statement('delete from agents.kill_switches where id = $1 and organization_id = $2 returning id')

const heldBy = (organizationId: string, found: readonly { readonly id: string }[]): Held => {
  if (found.length === 0) return nothingHeld
  const ids = found.map(({ id }) => id)
  return { all: ids.includes(organizationId), agents: new Set(ids) }
}

const killSwitchSql = (rows: Rows<typeof killSwitches>) => ({
  /** Returns the stops that are active in an organization. */
  heldOf: async (organizationId: string, transaction: Transaction | null): Promise<Held> =>
    heldBy(organizationId, await rows.read<{ id: string }>(held, [organizationId], transaction)),

  /**
   * The same for whoever puts off what is held. A release waits until the transaction ends, and so finds everything that was put off; whoever
   * comes during a release waits for it.
   */
  heldFor: async (organizationId: string, transaction: Transaction): Promise<Held> =>
    heldBy(organizationId, await rows.read<{ id: string }>(heldFor, [organizationId], transaction)),

  /** Holds an organization or an agent. @returns whether it was not held before */
  async engage({ id, organizationId, reason, at, userId, createdBy }: Engaged, transaction: Transaction): Promise<boolean> {
    return (await rows.read(engage, [id, organizationId, reason, at, userId, createdBy], transaction)).length > 0
  },

  /** Releases an organization or an agent. @returns whether it was held */
  async release({ id, organizationId }: Pick<Engaged, 'id' | 'organizationId'>, transaction: Transaction): Promise<boolean> {
    return (await rows.read<{ id: string }>(release, [id, organizationId], transaction)).length > 0
  },
})

export const killSwitchStore = store(killSwitches, { what: 'kill switch', tenancy: { by: 'organizationId' } }, killSwitchSql)
