import type { Transaction } from 'sequelize'
import { DomainError } from '../../../../platform/errors.ts'
import type { connectorStore } from '../../stores/connector.ts'
import type { PlanStep } from '../../stores/workflow.ts'
import type { PolicyDesk } from '../run/work.ts'

/** @throws CONFLICT, reason NOT_CONFIGURED, where there is no settlement and policy service */
export function requirePolicyService({ isConfigured }: Pick<PolicyDesk, 'isConfigured'>): void {
  if (isConfigured) return
  throw new DomainError('CONFLICT', 'No settlement and policy service is configured (SETTLEMENT_URL): actions that cross organizations cannot begin.', {
    reason: 'NOT_CONFIGURED',
  })
}

/**
 * Requires that whatever a plan does across organizations can be asked for.
 * @throws CONFLICT, reason NOT_CONFIGURED
 */
export async function requireAskable(
  {
    policy,
    connectors,
  }: { readonly policy: Pick<PolicyDesk, 'isConfigured'>; readonly connectors: Pick<ReturnType<(typeof connectorStore)['open']>, 'cross'> },
  steps: readonly PlanStep[],
  organizationId: string,
  transaction: Transaction,
): Promise<void> {
  if (policy.isConfigured) return
  const calls = steps.filter(({ kind }) => kind === 'TOOL')
  const ids = calls.flatMap(({ connectorId }) => connectorId ?? [])
  const crosses = calls.some(({ counterparty }) => counterparty !== null) || (ids.length > 0 && (await connectors.cross(ids, organizationId, transaction)))
  if (crosses) requirePolicyService(policy)
}
