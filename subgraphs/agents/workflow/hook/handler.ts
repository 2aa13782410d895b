import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { requireFlat } from '../../../http/body.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { readSigned } from '../../../http/signed.ts'
import { write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { isStorable } from '../../engines/connect/json.ts'
import { announceRun, announceWidget } from '../../engines/run/announce.ts'
import { requireReleased } from '../../engines/run/kill-switch.ts'
import { newRun } from '../../engines/run/start.ts'
import { openSecret, type WorkflowHookRow } from '../../stores/hook.ts'
import type { Json, WorkflowRow } from '../../stores/workflow.ts'

/** The path below which hooks lie, each under its code. */
export const addressOfHooks = '/agents/api/hooks'

/** How often a hook may be called in a window, and for how long a call's name is taken, in ms. */
const perMinute = { max: 60, windowMs: 60_000 } as const
const keptMs = 24 * 3_600_000

const unknown = (): DomainError => new DomainError('NOT_FOUND', 'There is no hook at this address.')

interface Found {
  readonly hook: WorkflowHookRow
  readonly workflow: WorkflowRow
  readonly planId: string
}

/** The hook with a code, while its workflow is published. @throws NOT_FOUND, alike for all others */
async function find(job: Job, code: string): Promise<Found> {
  const hook = /^[\w-]{43}$/.test(code) ? await job.workflowHooks.withCode(code) : null
  const workflow = hook && (await job.workflows.find(hook.id))
  if (!hook || workflow?.status !== 'PUBLISHED' || workflow.publishedPlanId === null) throw unknown()
  return { hook, workflow, planId: workflow.publishedPlanId }
}

/**
 * Reads by what name a call calls itself; null for none.
 * @throws UNAUTHENTICATED where a signature is missing or wrong, BAD_USER_INPUT for one that is too old or a name that is too long
 */
async function readName(job: Job, { hook }: Found, { headers }: Request, bytes: Uint8Array): Promise<string | null> {
  if (!hook.signed) {
    const key = headers.get('idempotency-key')
    if (key !== null && (key === '' || key.length > 255))
      throw new DomainError('BAD_USER_INPUT', 'Idempotency-Key takes 1 to 255 characters.', { field: 'idempotencyKey' })
    return key
  }
  const body = new TextDecoder().decode(bytes)
  const signed = await readSigned({ headers, body, secrets: [openSecret(job.connect.cipher, hook)] }, job.clock.now())
  if ('id' in signed) return signed.id
  if (signed.wrong === 'old') throw new DomainError('BAD_USER_INPUT', 'webhook-timestamp is older than 300 seconds, or as far ahead: sign the call anew.')
  throw new DomainError('UNAUTHENTICATED', 'This hook takes signed calls alone: sign it with its secret by Standard Webhooks.')
}

/** Reads any JSON. @throws BAD_USER_INPUT */
function readInput(body: Uint8Array): Json {
  requireFlat(body)
  let text: string
  let value: Json
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    value = JSON.parse(text) as Json
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is no JSON.')
  }
  if (!isStorable(JSON.stringify(value))) throw new DomainError('BAD_USER_INPUT', 'The body holds NUL or halves of characters: remove them.')
  return value
}

/** Begins a run with the body of a call as its input; once for each name. @returns the id of the run */
async function begin(job: Job, { workflow, planId }: Found, input: Json, name: string | null): Promise<string> {
  const { id: workflowId, organizationId } = workflow
  const { runId } = await write(job, {
    async run({ transaction, now }) {
      await requireReleased(job, organizationId, null, transaction)
      const id = newId(now)
      if (name !== null) {
        const key = createHash('sha256').update(name).digest('base64url')
        const taken = await job.workflowHooks.takeKey(workflowId, key, id, { now, since: new Date(now.getTime() - keptMs) }, transaction)
        if (taken !== id) return { runId: taken, run: null }
      }
      const begins = { organizationId, workflowId, planId, trigger: 'WEBHOOK', input, startedById: null, createdBy: 'workflow' } as const
      return { runId: id, run: await job.runs.insert(newRun(id, begins, now), transaction) }
    },
    audit: ({ run }) => run && { tenantId: organizationId, action: 'run.started', subjectId: run.id, details: { workflowId } },
    announce({ run }) {
      if (!run) return
      announceRun(job.events, run)
      announceWidget(job.events, organizationId)
      job.runner.soon()
    },
  })
  return runId
}

/** The row that hooks are called at. */
export const hookHandlers = (job: () => Job): Handlers => ({
  async [`POST ${addressOfHooks}/*`](request) {
    const work = job()
    const found = await find(work, new URL(request.url).pathname.split('/').at(-1)!)
    const body = await request.bytes()
    const name = await readName(work, found, request, body)
    const waitMs = await work.chatRates.take({ key: `hook ${found.hook.id}`, ...perMinute }, work.clock.now())
    if (waitMs > 0)
      throw new DomainError('RATE_LIMITED', `A hook takes ${perMinute.max} calls a minute: wait for a moment.`, { retryAfter: Math.ceil(waitMs / 1_000) })
    const runId = await begin(work, found, readInput(body), name)
    return Response.json({ runId }, { status: 202 })
  },
})
