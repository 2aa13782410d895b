import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { newRun } from '../engines/run/start.ts'
import { readPlan } from './plan.ts'

const name = 'Announce a release'

const stepsFor = (connectorId: string) =>
  readPlan([
    { key: 'is_major', kind: 'BRANCH', condition: { left: '{{input.size}}', operator: 'EQUALS', right: 'major' }, otherwise: 'report' },
    {
      ...{ key: 'announce', kind: 'TOOL', title: 'Announce it', connectorId, tool: 'create_note', arguments: { text: 'Release {{input.version}} is out.' } },
      gate: {
        ...{ title: 'May the release be announced?', description: 'The note is written as it stands, or as you edit it.', risk: 'MEDIUM' },
        ...{ allowed: ['APPROVE', 'EDIT', 'REJECT'], expiresInSeconds: 30 * 86_400, onExpiry: 'REJECT' },
      },
    },
    { key: 'report', kind: 'REPORT', title: 'Releases', text: 'Release {{input.version}} ({{input.size}}) went out.' },
  ])

/** What the demo's runs are begun with: the first ends by itself, the second waits for a person. */
const inputs = [
  { version: '1.4.1', size: 'minor' },
  { version: '2.0.0', size: 'major' },
] as const

/**
 * Makes the demo's workflow with two runs, unless it is there. The runs are executed as all others are.
 * @param job         in the owner's name
 * @param connectorId the connector to the sandbox's server of tools
 */
export async function provideDemoWorkflow(
  job: Job,
  { organizationId, userId, connectorId }: { readonly organizationId: string; readonly userId: string; readonly connectorId: string },
): Promise<string> {
  const id = idOfName(organizationId, name)
  if (await job.workflows.find(id)) return id
  await inTransaction(job, async ({ transaction, now }) => {
    const createdBy = `user:${userId}`
    // A process that starts at the same moment waits here and finds it.
    await job.connectors.madeFor(organizationId, transaction)
    if (await job.workflows.lock(id, transaction)) return
    const steps = stepsFor(connectorId)
    const planId = idOfName(id, 'plan')
    await job.plans.insert({ id: planId, organizationId, workflowId: id, number: 1, steps, createdAt: now, createdBy }, transaction)
    const stamps = { createdAt: now, updatedAt: now, createdBy }
    const published = { status: 'PUBLISHED', draft: steps, publishedPlanId: planId, plans: 1 } as const
    const description = 'Writes a note about a major release once a person has approved it, and keeps a report of all releases.'
    await job.workflows.insert({ id, organizationId, name, description, trigger: { kind: 'MANUAL', event: null }, ...published, ...stamps }, transaction)
    for (const input of inputs) {
      const begins = { organizationId, workflowId: id, planId, trigger: 'MANUAL', input, startedById: userId, createdBy } as const
      await job.runs.insert(newRun(idOfName(id, input.version), begins, now), transaction)
    }
  })
  job.runner.soon()
  return id
}
