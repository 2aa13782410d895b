import { createKeyCheck } from '../../store/key-check.ts'
import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { resyncRuns } from '../engines/run/announce.ts'
import { openCode, openSecret } from '../stores/hook.ts'
import { approvalHandlers } from './approval/handlers.ts'
import { approvalResolvers } from './approval/resolvers.ts'
import { hookHandlers } from './hook/handler.ts'
import { hookResolvers } from './hook/resolvers.ts'
import { policyHandlers } from './policy/handlers.ts'
import { reportResolvers } from './report/resolvers.ts'
import { workflowResolvers } from './resolvers.ts'
import { runResolvers } from './run/resolvers.ts'
import { turnsOfSchedules } from './turns.ts'

/** Workflows, their runs, and what runs ask people and write. */
export const workflowNouns: Readonly<Record<string, Noun<At>>> = {
  workflow: { resolvers: workflowResolvers, sweeps: ({ job }) => [turnsOfSchedules(() => job('schedules'))] },
  hook: {
    resolvers: hookResolvers,
    handlers: ({ job }) => hookHandlers(() => job('hooks')),
    retention: () => [{ table: 'agents.hook_calls', days: 2, old: 'o.at < $1', order: 'o.at' }],
    readiness: ({ foundation: { sequelize, cipher }, log }) => [
      createKeyCheck(sequelize, {
        table: 'agents.workflow_hooks',
        columns: [
          { column: 'code', open: (id, code) => openCode(cipher, { id, code }) },
          { column: 'secret', open: (id, secret) => openSecret(cipher, { id, secret }) },
        ],
        consequence: 'addresses of hooks cannot be shown, nor signatures of their calls checked: they were',
        log,
      }),
    ],
  },
  run: {
    resolvers: runResolvers,
    sweeps: ({ services: { runner } }) => [runner.sweep],
    stop: ({ services: { runner } }) => runner.stop(),
    resync: ({ services: { events }, job }) =>
      resyncRuns(events, {
        runs: (organizationId, since) => job('events').runs.changedSince(organizationId, since),
        approvals: (organizationId, since) => job('events').approvals.changedSince(organizationId, since),
      }),
  },
  policy: {
    sweeps: ({ services: { policyRounds } }) => (policyRounds ? [policyRounds.sweep] : []),
    stop: async ({ services: { policyRounds } }) => policyRounds?.stop(),
    handlers: ({ settings: { policyService }, job }) => policyHandlers({ job: () => job('policy'), secrets: policyService?.secrets ?? [] }),
  },
  approval: { resolvers: approvalResolvers, handlers: ({ job }) => approvalHandlers(job) },
  report: { resolvers: reportResolvers },
}
