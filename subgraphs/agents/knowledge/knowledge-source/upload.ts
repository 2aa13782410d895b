import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { activeOrganization, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { maxText } from '../../engines/knowledge/indexing.ts'
import { textOfPage } from '../../engines/page/page-text.ts'
import { openPdfReader, type PdfReader, pdfLimits, type Unreadable } from '../../engines/page/pdf.ts'
import type { KnowledgeSourceRow, Visibility } from '../../stores/knowledge/knowledge-source.ts'
import { addKnowledge } from './resolvers.ts'
import { readAddress, readKnowledgeText, readTitle } from './rules.ts'

/** Path to which files are uploaded as a raw body. */
export const uploadPath = '/agents/api/knowledge-sources/uploads'
const sourcesPath = '/agents/api/knowledge-sources'

const known = new Set(['title', 'visibility', 'url'])
const types = ['text/plain', 'text/markdown', 'text/html', 'application/pdf'] as const

const wrong = (message: string, field: string): DomainError => new DomainError('BAD_USER_INPUT', message, { field })

const unreadable: Readonly<Record<Unreadable, string>> = {
  damaged: 'The body is no PDF, or a damaged one: open it in a reader, save it anew, and upload that.',
  encrypted: 'The PDF is protected by a password: save it without one, and upload that.',
  pages: `The PDF has more than ${pdfLimits.pages.toLocaleString('en')} pages: upload it in parts.`,
  costly: 'The PDF takes more time or memory than a document may: save it anew as PDF, or upload its text.',
}

/** Reads the text of a file. @throws BAD_USER_INPUT for a type that is not read, and for a file that is none of its type or has no words */
async function readFile(pdf: PdfReader, organizationId: string, contentType: string, bytes: Uint8Array): Promise<string> {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (bytes.byteLength === 0) throw wrong('The body is missing: send the bytes of a text or a PDF.', 'body')
  if (type === 'application/pdf') {
    const found = await pdf.read(organizationId, bytes, maxText)
    if ('refused' in found) throw wrong(unreadable[found.refused], 'body')
    const text = found.text.replaceAll('\0', '').toWellFormed()
    if (text.trim() === '') throw wrong('The PDF holds no text, such as one that was scanned: upload a PDF with text, or the text itself.', 'body')
    return readKnowledgeText(text.trim())
  }
  if (!types.some(each => each === type)) throw wrong(`Content-Type takes ${types.join(', ')}.`, 'body')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw wrong('The body is no text in UTF-8: save it as UTF-8, and upload that.', 'body')
  }
  return readKnowledgeText(type === 'text/html' ? textOfPage(text) : text)
}

function readVisibility(given: string | null): Visibility {
  const visibility = (given ?? 'organization').toUpperCase()
  if (visibility === 'ORGANIZATION' || visibility === 'PUBLIC') return visibility
  throw wrong('visibility takes organization or public.', 'visibility')
}

function readUrl(given: string | null): string | null {
  if (given === null || given === '') return null
  if (!URL.canParse(given)) throw wrong('url takes an address of http or https.', 'url')
  return readAddress(new URL(given), 'url')
}

/** A source as routes show it that was uploaded now. */
const shown = ({ id, title, kind, url, visibility, language, status, actions, version, createdAt, updatedAt }: KnowledgeSourceRow) => ({
  ...{ id, title, kind: kind.toLowerCase(), url, visibility: visibility.toLowerCase(), language, status: status.toLowerCase(), failure: null, actions },
  ...{ chunks: 0, indexedAt: null, checkedAt: null, stale: false, version, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
})

async function upload(context: Context, pdf: PdfReader, request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url)
  for (const name of searchParams.keys())
    if (!known.has(name)) throw wrong(`There is no query parameter "${name.slice(0, 80)}" here: known are ${[...known].join(', ')}.`, name.slice(0, 80))
  const organizationId = activeOrganization(context.viewer, 'Knowledge')
  const given = {
    title: readTitle(searchParams.get('title') ?? ''),
    visibility: readVisibility(searchParams.get('visibility')),
    url: readUrl(searchParams.get('url')),
    language: null,
  }
  const bytes = await request.bytes()
  const contentType = request.headers.get('content-type') ?? ''
  const idempotencyKey = request.headers.get('idempotency-key')
  const text = await readFile(pdf, organizationId, contentType, bytes)
  // The key includes a digest of the file, because no other code compares it.
  const sha256 = idempotencyKey === null ? '' : createHash('sha256').update(bytes).digest('hex')
  const once = { ...given, sha256, idempotencyKey } as { idempotencyKey: string | null }
  const row = await addKnowledge(context, { ...given, kind: 'UPLOAD', actions: [], text, once })
  return Response.json(shown(row), { status: 201, headers: { location: `${sourcesPath}/${row.id}`, etag: `"${row.version}"` } })
}

/** Takes files into the knowledge of an organization. */
export function uploadHandlers(forRequest: (viewer: Viewer, request: Request) => Context): Handlers {
  const pdf = openPdfReader()
  return {
    [`POST ${uploadPath}`]: async (request, viewer) => {
      if (!viewer.scopes.includes('agents:knowledge.write')) throw new DomainError('FORBIDDEN', 'Files are uploaded with the scope agents:knowledge.write.')
      return upload(forRequest(viewer, request), pdf, request)
    },
  }
}
