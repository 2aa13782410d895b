import { DomainError } from '../../../../platform/errors.ts'
import type { ConnectorRow, ToolRow } from '../../stores/connector.ts'
import type { PlanStep } from '../../stores/workflow.ts'

/**
 * Requires that a step names a tool of its connector, and no other owner than the connector's.
 * @param prefix how the step is named in the input: `steps[0].`, or nothing
 * @returns the tool
 * @throws BAD_USER_INPUT with a field such as `steps[0].tool`
 */
export function requireTool(connector: ConnectorRow, { tool, counterparty }: PlanStep, prefix: string): ToolRow {
  const known = connector.tools.find(({ name }) => name === tool)
  if (!known) {
    const field = `${prefix}tool`
    throw new DomainError('BAD_USER_INPUT', `${field}: ${tool} is no tool of ${connector.name}: check the connector to read its tools anew.`, { field })
  }
  if (counterparty !== null && connector.counterparty !== null && counterparty !== connector.counterparty) {
    const field = `${prefix}counterparty`
    throw new DomainError('BAD_USER_INPUT', `${field}: the connector belongs to ${connector.counterparty}: leave it out, or name that.`, { field })
  }
  return known
}
