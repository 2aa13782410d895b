import type { Transaction } from 'sequelize'
import { DomainError } from '../../../../platform/errors.ts'
import type { Held } from '../../stores/workspace/kill-switch.ts'

/** Whether an agent's steps and replies may not begin; without an agent, whether anything of the organization may not. */
export const isHeldBy = ({ all, agents }: Held, agentId: string | null = null): boolean => all || (agentId !== null && agents.has(agentId))

/**
 * Requires that work may begin at present.
 * @param agentId the agent that is to work, where there is one
 * @throws CONFLICT, reason KILL_SWITCH
 */
export async function requireReleased(
  { killSwitches }: { readonly killSwitches: { heldOf(organizationId: string, transaction: Transaction | null): Promise<Held> } },
  organizationId: string,
  agentId: string | null = null,
  transaction: Transaction | null = null,
): Promise<void> {
  const held = await killSwitches.heldOf(organizationId, transaction)
  if (!isHeldBy(held, agentId)) return
  const what = held.all ? 'the organization' : 'this agent'
  throw new DomainError('CONFLICT', `The kill switch of ${what} is engaged: nothing starts until it is released with setKillSwitch.`, { reason: 'KILL_SWITCH' })
}
