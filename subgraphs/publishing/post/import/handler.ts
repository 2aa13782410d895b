import { DomainError } from '../../../../platform/errors.ts'
import { answering } from '../../../http/handlers.ts'
import type { Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { importPosts } from './import.ts'

export const importPath = '/publishing/api/posts/import'

/** Handles the upload of a CSV file of posts, and answers with the result of each row. */
export const answerImport = (context: Context, request: Request, viewer: Viewer): Promise<Response> =>
  answering({ [`POST ${importPath}`]: asked => imported(context, asked) })(request, viewer)

async function imported(context: Context, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams
  const strange = [...query.keys()].find(name => name !== 'brandId' && name !== 'dryRun')
  if (strange !== undefined) throw new DomainError('BAD_USER_INPUT', 'The query has brandId and dryRun, and nothing else.', { field: strange.slice(0, 80) })
  if (!/^text\/csv\b/i.test(request.headers.get('content-type') ?? ''))
    throw new DomainError('BAD_USER_INPUT', 'The body is the file itself: send it with Content-Type text/csv.')
  const { rows, ...report } = await importPosts(context, {
    brandId: query.get('brandId') ?? '',
    dryRun: readTruth(query.get('dryRun')),
    csv: textOf(await request.bytes()),
    idempotencyKey: request.headers.get('idempotency-key'),
  })
  const inLowerCase = rows.map(({ status, problems, ...row }) => ({
    ...row,
    status: status.toLowerCase(),
    problems: problems.map(problem => ({ ...problem, severity: problem.severity.toLowerCase() })),
  }))
  return Response.json({ ...report, rows: inLowerCase })
}

function readTruth(given: string | null): boolean {
  if (given === null || given === 'false') return false
  if (given === 'true') return true
  throw new DomainError('BAD_USER_INPUT', 'dryRun is true or false.', { field: 'dryRun' })
}

/** @throws BAD_USER_INPUT for bytes that are no UTF-8 */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The file is no text in UTF-8: save it as CSV in UTF-8.', { field: 'csv' })
  }
}
