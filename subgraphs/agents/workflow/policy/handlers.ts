import { DomainError } from '../../../../platform/errors.ts'
import { isId } from '../../../../platform/ids.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { readSigned } from '../../../http/signed.ts'
import { notFound } from '../../../store/store.ts'
import { decidePolicy } from '../../engines/policy/decide.ts'
import { addressOfPolicyDecisions, readDecision } from '../../engines/policy/decision-service.ts'
import type { SaidDecision } from '../../engines/policy/rules.ts'
import type { PolicyWork } from '../../engines/policy/work.ts'

const expected = '{ type: policy.decided, timestamp, data: { id, decision: allow, deny or hold, actionHash, reason, policyVersion } }'

/** Reads what the settlement and policy service tells. @throws BAD_USER_INPUT for anything else; NOT_FOUND for an id that cannot be one */
function readTold(body: string): { readonly id: string; readonly said: SaidDecision } {
  const refuse = (field: string) => new DomainError('BAD_USER_INPUT', `${field} is not that of a decision: ${expected}.`, { field })
  let given: { readonly type?: unknown; readonly data?: unknown }
  try {
    given = Object(JSON.parse(body))
  } catch {
    throw refuse('body')
  }
  if (given.type !== 'policy.decided') throw refuse('type')
  const data: Readonly<Record<string, unknown>> = Object(given.data)
  const said = readDecision(data)
  if (!said) throw refuse('data')
  const { id } = data
  if (typeof id !== 'string') throw refuse('data.id')
  if (!isId(id)) throw notFound('policy request', id)
  return { id, said }
}

/** What decisions of the service are taken with. */
export interface PolicyDecisions {
  readonly job: () => PolicyWork
  /** Each of them is taken; without one, none is. */
  readonly secrets: readonly string[]
}

/** Where the settlement and policy service tells its decisions. */
export const policyHandlers = ({ job, secrets }: PolicyDecisions): Handlers => ({
  async [`POST ${addressOfPolicyDecisions}`](request) {
    const [body, work] = [await request.text(), job()]
    if ('wrong' in (await readSigned({ headers: request.headers, body, secrets }, work.clock.now())))
      throw new DomainError('UNAUTHENTICATED', 'The signature of this decision is not valid, or too old.')
    const { id, said } = readTold(body)
    await decidePolicy(work, id, said)
    return new Response(null, { status: 204 })
  },
})
