import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

/** A file at most, in bytes. */
const mostFileBytes = 10 * 1024 * 1024

const uploadRow: Row = {
  kind: 'forward',
  method: 'POST',
  path: '/api/knowledge-sources/uploads',
  access: { scope: 'agents:knowledge.write' },
  limit: mostFileBytes,
  to: 'agents',
  timeoutMs: 60_000,
  why: 'raw body',
  describes: [
    {
      name: 'uploadKnowledgeSource',
      does: 'Adds the text of a file to the knowledge of the active organization: the body is its bytes, and `Content-Type` says what it is: text/plain, text/markdown, text/html, or application/pdf of at most 1,000 pages. It is searchable once its status is ready, within seconds. BAD_USER_INPUT for a file that is none of its type, is protected by a password or has no text; CONFLICT, reason `QUOTA`, for more than 2,000 sources.',
      query: {
        title: 'Name of the source: 1 to 200 characters.',
        visibility: '`organization` or `public`. Default: `organization`.',
        url: 'Address at which people read it; required for a public source.',
      },
      body: { type: 'application/octet-stream', schema: { type: 'string', format: 'binary' } },
      refuses: [409, 429],
      answers: { 201: { description: 'The source, with its address in `Location`.', schema: { type: 'object', additionalProperties: true } } },
    },
  ],
}

const operations = nounRoutes({
  select: {
    KnowledgeSource: `
      id title kind url visibility language status failure { code message } actions { kind label url iosUrl androidUrl }
      chunks indexedAt checkedAt stale version createdAt updatedAt`,
  },
  routes: {
    'GET /api/knowledge-sources': 'knowledgeSources',
    'POST /api/knowledge-sources': 'createKnowledgeSource',
    'GET /api/knowledge-sources/:id': 'knowledgeSource',
    'PUT /api/knowledge-sources/:id': 'updateKnowledgeSource',
    'DELETE /api/knowledge-sources/:id': 'deleteKnowledgeSource',
    'POST /api/knowledge-sources/:id/reindex': { run: 'reindexKnowledgeSource', status: 200 },
  },
})

export const knowledgeRows: readonly Row[] = [...operations, uploadRow]
