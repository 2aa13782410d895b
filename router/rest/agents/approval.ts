import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

const own = `
  id kind title description risk status tool counterparty arguments argumentsHash allowed expiresAt onExpiry escalatedAt
  approverIds: approvers { id } required decisions { decision actor userId: user { id } comment arguments argumentsHash at } createdAt decidedAt`

export const approvalRows = nounRoutes({
  select: { Approval: own },
  routes: {
    'GET /api/approvals': { run: 'approvals', select: `${own} runId: run { id }` },
    'GET /api/approvals/:id': { run: 'approval', select: `${own} runId: run { id }` },
    'POST /api/approvals/:id/decision': 'decideApproval',
    'POST /api/approvals/:id/links': {
      ...{ run: 'createApprovalLink', names: { approvalId: 'id' }, select: 'url expiresAt', status: 201, location: null },
      ...{ mayBeEmpty: true, noStore: true },
    },
  },
})

const html = { type: 'text/html', schema: { type: 'string' } } as const
const word = { type: 'string' } as const
const code = 'The code of the link, 43 characters.'

export const approvalLinkRows: readonly Row[] = [
  {
    ...{ kind: 'forward', method: 'GET', path: '/approval', limit: 0, to: 'agents', role: 'web', why: 'page' },
    access: { public: 'The code in the address is the credential.' },
    describes: [
      {
        name: 'showApprovalLink',
        does: 'The page of a single-use link: what is asked, and a form that decides. JSON with `Accept: application/json`. It decides nothing itself.',
        query: { code },
        answers: {
          200: { description: 'Details of the approval, with the hash that a decision has to repeat.', ...html },
          400: { description: 'The code is unknown, used or expired, or its approval was decided: reason CODE.', ...html },
        },
      },
    ],
  },
  {
    ...{ kind: 'forward', method: 'POST', path: '/api/approvals/link', limit: 128 * 1024, to: 'agents', why: 'own answer' },
    access: { public: 'The code in the body is the credential.' },
    describes: [
      {
        name: 'decideByApprovalLink',
        does: 'Decides on an approval by its link, which works once.',
        body: {
          schema: {
            type: 'object',
            properties: {
              code: { ...word, description: code },
              decision: { ...word, enum: ['approve', 'edit', 'reject', 'respond'] },
              argumentsHash: { ...word, description: 'Hash of the arguments as they were shown.' },
              arguments: { description: 'For `edit`: what is executed instead.' },
              response: { ...word, description: 'For `respond`.' },
              comment: word,
            },
            required: ['code', 'decision', 'argumentsHash'],
          },
        },
        refuses: [403, 409],
        answers: {
          200: { description: 'State of the approval.', schema: { type: 'object', properties: { status: word }, required: ['status'] } },
        },
      },
    ],
  },
]
