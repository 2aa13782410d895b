import type { Logger } from 'pino'
import type { Transaction } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import type { Events } from '../../../../platform/events.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { reportStore } from '../../stores/report.ts'
import type { approvalStore } from '../../stores/run/approval.ts'
import type { policyRequestStore } from '../../stores/run/policy-request.ts'
import type { RunRow, runStore } from '../../stores/run/run.ts'
import type { stepStore } from '../../stores/run/step.ts'
import type { PlanStep, planStore, workflowStore } from '../../stores/workflow.ts'
import type { killSwitchStore } from '../../stores/workspace/kill-switch.ts'
import type { TaskWork } from '../task/task.ts'
import type { CallEnd } from './interpret.ts'
import type { StepState, ToolFacts } from './state.ts'
import type { Effect } from './walk.ts'

/** A call that is to be made: what it is for is committed. */
export interface Calling {
  readonly run: RunRow
  readonly claimId: string
  readonly step: PlanStep
  readonly state: StepState
}

/** What asks the settlement and policy service. */
export interface PolicyDesk {
  /** Whether there is a service to ask. */
  readonly isConfigured: boolean
  /** Writes down what the service is to be asked, in the run's transaction. */
  request(run: RunRow, effect: Extract<Effect, { does: 'request' }>, unit: WriteTransaction): Promise<void>
  /** Ends a request to which nobody answered in time, or whose run has ended, in the run's transaction. */
  close(effect: Extract<Effect, { policyId: string }>, unit: WriteTransaction): Promise<void>
  /** Has requests looked for that were written down. */
  soon(): void
}

/** What ends replies that runs write. */
export interface ReplyDesk {
  /** Ends the reply of a run that has ended, in its transaction. @returns what announces it after the commit; null for a run that writes none */
  close(run: RunRow, unit: WriteTransaction): Promise<(() => void) | null>
}

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What runs are taken on with: everybody's rows, and what steps call. */
export interface RunWork extends TaskWork {
  readonly approvals: Opened<typeof approvalStore>
  readonly killSwitches: Opened<typeof killSwitchStore>
  readonly plans: Opened<typeof planStore>
  readonly policy: PolicyDesk
  readonly replies: ReplyDesk
  readonly policyRequests: Opened<typeof policyRequestStore>
  readonly reports: Opened<typeof reportStore>
  readonly runs: Opened<typeof runStore>
  readonly steps: Opened<typeof stepStore>
  readonly workflows: Opened<typeof workflowStore>
  readonly clock: Clock
  readonly events: Events
  readonly log: Logger
  /** Makes the call of a step. It never rejects for what the other side does. */
  call(calling: Calling): Promise<CallEnd>
  /** Reads what is known of the tools that steps of an organization call. */
  toolsOf(steps: readonly PlanStep[], organizationId: string, transaction: Transaction): Promise<(step: PlanStep) => ToolFacts | null>
}
