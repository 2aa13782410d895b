import { DomainError } from '../../../../platform/errors.ts'
import type { Handlers } from '../../../http/handlers.ts'
import type { At } from '../../context.ts'
import { purposeNames } from '../../engines/consent/sync.ts'
import type { ConsentRecord } from '../../stores/consent.ts'
import { momentOf, oneOf, readForm, required } from '../body.ts'
import { readConsent, recordConsent } from './record.ts'
import type { Purposes } from './rules.ts'

const shown = ({ id, subjectId, decision, analytics, personalization, advertising, policyVersion, decidedAt, syncState }: ConsentRecord) => ({
  ...{ id, subjectId, decision: decision.toLowerCase(), analytics, personalization, advertising, policyVersion, decidedAt },
  syncState: syncState.toLowerCase(),
})

function readPurposes(given: Readonly<Record<string, unknown>> | undefined): Purposes | null {
  if (given === undefined) return null
  const unknown = Object.keys(given).find(name => !(purposeNames as readonly string[]).includes(name))
  const wrong = unknown ?? purposeNames.find(name => typeof given[name] !== 'boolean')
  if (wrong === undefined) return given as Purposes
  const field = `purposes.${wrong.slice(0, 80)}`
  throw new DomainError('BAD_USER_INPUT', `${field} is ${unknown === undefined ? 'neither true nor false' : 'not known here'}.`, { field })
}

const members = { subjectId: 'text', decision: 'text', purposes: 'object', policyVersion: 'text', decidedAt: 'text' } as const

/** Routes of decisions about cookies. */
export const consentHandlers = ({ contexts }: At): Handlers => ({
  'PUT /launcher/api/consent': async (request, viewer) => {
    const { subjectId, decision, purposes, policyVersion, decidedAt } = await readForm(request, members)
    const row = await recordConsent(contexts.forRequest(viewer, request), {
      ...{ subjectId: required(subjectId, 'subjectId'), decision: oneOf(decision, ['ACCEPT', 'DECLINE', 'CUSTOM'], 'decision') },
      ...{ purposes: readPurposes(purposes), policyVersion: required(policyVersion, 'policyVersion') },
      decidedAt: momentOf(required(decidedAt, 'decidedAt'), 'decidedAt'),
    })
    return Response.json(shown(row))
  },
  'GET /launcher/api/consent/*': async (request, viewer) => {
    const subjectId = decodeURIComponent(new URL(request.url).pathname.split('/').at(-1)!)
    return Response.json(shown(await readConsent(contexts.forRequest(viewer, request), subjectId)))
  },
})
