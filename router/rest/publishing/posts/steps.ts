import { toEnum } from '../../enum-case.ts'
import { operationRow, type Row } from '../../row.ts'
import {
  type DecidePostInput,
  type ReschedulePostInput,
  RestDecidePostDocument,
  RestReschedulePostDocument,
  RestSubmitPostDocument,
  type SubmitPostInput,
} from '../post.generated.ts'
import { one } from '../post.ts'

/** What is done with a post beside writing it. */
export const postStepRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/reschedule',
    operation: RestReschedulePostDocument,
    body: ['scheduledAt'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as ReschedulePostInput }),
    reply: ({ reschedulePost }) => one(reschedulePost),
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/submit',
    operation: RestSubmitPostDocument,
    body: ['comment'],
    mayBeEmpty: true,
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as SubmitPostInput }),
    reply: ({ submitPost }) => one(submitPost),
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/decide',
    operation: RestDecidePostDocument,
    body: ['decision', 'comment'],
    variables: ({ params, body, expectedVersion }) => ({
      input: { ...body, decision: toEnum(body.decision), id: params.id!, expectedVersion } as DecidePostInput,
    }),
    reply: ({ decidePost }) => one(decidePost),
  }),
]
