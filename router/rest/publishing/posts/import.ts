import type { Row } from '../../row.ts'

const report = {
  type: 'object',
  required: ['id', 'dryRun', 'created', 'invalid', 'rows'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    dryRun: { type: 'boolean' },
    created: { type: 'integer' },
    invalid: { type: 'integer' },
    rows: {
      type: 'array',
      items: {
        type: 'object',
        required: ['row', 'status', 'postId', 'problems'],
        properties: {
          row: { type: 'integer', description: 'The line on which it begins; the header stands on 1.' },
          status: { type: 'string', enum: ['created', 'valid', 'invalid'] },
          postId: { type: ['string', 'null'], format: 'uuid' },
          problems: {
            type: 'array',
            items: {
              type: 'object',
              required: ['severity', 'code', 'field', 'message'],
              properties: {
                severity: { type: 'string', enum: ['error', 'warning'] },
                code: { type: 'string' },
                field: { type: 'string' },
                message: { type: 'string' },
              },
            },
          },
        },
      },
    },
  },
} as const

/** Routes for importing posts. The file itself is the body, so no operation reads it. */
export const importRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/posts/import',
    access: { scope: 'publishing:posts.write' },
    limit: 1024 * 1024,
    to: 'publishing',
    why: 'raw body',
    describes: [
      {
        name: 'importPosts',
        does: 'Creates posts from a CSV file: each valid row is imported, even if others are invalid. With the header Idempotency-Key the same file is imported once.',
        query: { brandId: 'A brand of the active organization.', dryRun: 'true looks at the file, and writes nothing.' },
        body: { type: 'text/csv', schema: { type: 'string', description: 'A header, and 500 rows at most.' } },
        refuses: [401, 403, 404, 409, 429],
        answers: { 200: { description: 'The outcome of each row.', schema: report } },
      },
    ],
  },
]
