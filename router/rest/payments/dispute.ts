import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

export const disputeRows = nounRoutes({
  select: {
    Dispute: `
      id orderId: order { id } amount { amountMinor currency } reason status evidenceDueBy openedAt closedAt
      evidence { text files { id name contentType bytes } submittedById: submittedBy { id } submittedAt } processorId version`,
  },
  routes: {
    'GET /api/disputes': 'disputes',
    'GET /api/disputes/:id': 'dispute',
    'POST /api/disputes/:id/evidence': 'submitDisputeEvidence',
    'POST /api/disputes/:id/accept': 'acceptDispute',
  },
})

const text = { type: 'string' } as const
const file = { id: { type: 'string', format: 'uuid' }, name: text, contentType: text, bytes: { type: 'integer' } } as const

export const disputeFileRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/disputes/:id/files',
    access: { scope: 'payments:transactions.write' },
    limit: 5 * 1024 * 1024,
    to: 'payments',
    why: 'raw body',
    describes: [
      {
        name: 'createDisputeFile',
        does: 'Keeps a file at the processor that evidence of the dispute may name: 5 MiB at most. `Idempotency-Key` makes it once.',
        query: { name: 'The name of the file, 1 to 200 characters without a path.' },
        body: { type: 'application/pdf', schema: { ...text, format: 'binary', description: 'Or image/png, or image/jpeg.' } },
        refuses: [404, 409],
        answers: {
          201: {
            description: 'The file; evidence refers to it by its id.',
            schema: { type: 'object', properties: file, required: ['id', 'name', 'contentType', 'bytes'] },
          },
        },
      },
    ],
  },
]
