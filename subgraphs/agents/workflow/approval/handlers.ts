import { codeOf, DomainError, statusOf } from '../../../../platform/errors.ts'
import { readFields } from '../../../http/body.ts'
import type { Handlers } from '../../../http/handlers.ts'
import type { Job } from '../../context.ts'
import type { DecideApprovalInput } from '../../resolvers.generated.ts'
import type { Json } from '../../stores/workflow.ts'
import { decideByLink, openLink } from './link.ts'
import { addressOfDecisions, approvalPage, decidedPage, refusedPage, shownOf } from './page.ts'

const isVerdict = (text: string): text is DecideApprovalInput['decision'] => ['APPROVE', 'EDIT', 'REJECT', 'RESPOND'].includes(text)

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Reads a decision as JSON or a form sends it; a form sends arguments as text. @throws BAD_USER_INPUT */
function readDecision(fields: Readonly<Record<string, unknown>>, isForm: boolean): Omit<DecideApprovalInput, 'id'> {
  const decision = (textOf(fields.decision) ?? '').toUpperCase()
  if (!isVerdict(decision)) throw new DomainError('BAD_USER_INPUT', 'decision is approve, edit, reject or respond.', { field: 'decision' })
  const given = decision === 'EDIT' ? (isForm ? parsed(fields.arguments) : fields.arguments) : undefined
  const rest = { response: textOf(fields.response), comment: textOf(fields.comment) }
  return { decision, argumentsHash: textOf(fields.argumentsHash) ?? '', ...(given !== undefined && { arguments: given }), ...rest } as never
}

function parsed(text: unknown): Json {
  try {
    return JSON.parse(String(text)) as Json
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'arguments is no JSON.', { field: 'arguments' })
  }
}

/** Whether a page is wanted rather than data. */
const wantsPage = (request: Request): boolean => !/application\/json/.test(request.headers.get('accept') ?? '')

/** Answers what was refused as a page, where one is wanted. */
async function asPage(isPage: boolean, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (!isPage || !(error instanceof DomainError)) throw error
    return refusedPage(statusOf[codeOf(error)], error)
  }
}

/**
 * The page of a single-use link, and the decision that it brings.
 * @param jobFor everybody's rows, under the name of whoever decides
 */
export const approvalHandlers = (jobFor: (actor: string) => Job): Handlers => ({
  'GET /agents/approval': request => {
    const code = new URL(request.url).searchParams.get('code')
    return asPage(wantsPage(request), async () => {
      const { approval } = await openLink(jobFor('system'), code)
      return wantsPage(request) ? approvalPage(approval, code!) : Response.json(shownOf(approval))
    })
  },
  async [`POST ${addressOfDecisions}`](request) {
    const isForm = (request.headers.get('content-type') ?? '').startsWith('application/x-www-form-urlencoded')
    return asPage(isForm, async () => {
      const fields = await readFields(request)
      const open = await openLink(jobFor('system'), fields.code)
      const decided = await decideByLink(jobFor(`link:${open.link.id}`), open, readDecision(fields, isForm))
      return isForm ? decidedPage(decided) : Response.json({ status: decided.status.toLowerCase() })
    })
  },
})
