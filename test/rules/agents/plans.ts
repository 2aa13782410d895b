import type { Gate, PlanStep, StepKind } from '../../../subgraphs/agents/stores/workflow.ts'

/** A step with everything that its kind does not need left out. */
export const planStep = (kind: StepKind, key: string, given: Partial<PlanStep> = {}): PlanStep => ({
  ...{ key, kind, title: null, next: null, otherwise: null, timeoutSeconds: 60, retries: 2 },
  ...{ agentId: null, prompt: null, connectorId: null, tool: null, arguments: {}, gate: null, counterparty: null, purpose: null },
  ...{ policyTimeoutSeconds: null, seconds: null, condition: null, workflowId: null, text: null },
  ...given,
})

export const gate = (given: Partial<Gate> = {}): Gate => ({
  ...{ title: 'May it?', description: null, risk: 'LOW', allowed: ['APPROVE', 'REJECT'] },
  ...{ expiresInSeconds: 600, onExpiry: 'REJECT', escalateAfterSeconds: null },
  ...given,
})
