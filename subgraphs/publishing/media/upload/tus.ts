import { createHash } from 'node:crypto'
import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { isId, newId, readId, requireName } from '../../../../platform/ids.ts'
import { problem, problemOf } from '../../../http/problem.ts'
import { inTransaction } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { requireInUse } from '../../stores/brand.ts'
import type { UploadRow } from '../../stores/media/upload.ts'
import { readAltText } from '../asset/rules.ts'
import { mostBytes } from '../file/type.ts'
import { requireFolder } from '../folder/rules.ts'
import { requireRoom } from '../keep.ts'
import { Altered, completed, Ended, endUpload, Overtaken, receive, Stalled, uploadRestsMs } from './receive.ts'

/** Path at which uploads are created; the path of an upload has one more segment. */
export const uploadPath = '/publishing/api/media/uploads'
const version = '1.0.0'
/** Maximum number of open uploads of a brand. */
const mostOpen = 100

const algorithms: Readonly<Record<string, string>> = { sha1: 'sha1', sha256: 'sha256', md5: 'md5' }

/** Whether a path is that of uploads in parts. */
export const isUpload = (pathname: string): boolean => pathname === uploadPath || pathname.startsWith(`${uploadPath}/`)

/** Answers uploads in parts, by the protocol tus 1.0.0. */
export async function answerUpload(context: Context, request: Request): Promise<Response> {
  const answer = await answered(context, request)
  answer.headers.set('tus-resumable', version)
  answer.headers.set('cache-control', 'no-store')
  return answer
}

async function answered(context: Context, request: Request): Promise<Response> {
  const method = request.headers.get('x-http-method-override')?.toUpperCase() ?? request.method
  const { pathname } = new URL(request.url)
  const id = pathname.slice(uploadPath.length + 1)
  if (request.headers.get('tus-resumable') !== version) {
    const refused = await told(request, 412, 'BAD_USER_INPUT', `Uploads speak tus ${version}: send Tus-Resumable: ${version}.`)
    refused.headers.set('tus-version', version)
    return refused
  }
  try {
    if (id === '') {
      if (method === 'POST') return await create(context, request)
      return problem(request, 'NOT_FOUND', `There is nothing at ${method} ${pathname}: an upload begins with POST.`)
    }
    const upload = isId(id) ? await context.mediaUploads.byId.load(id.toLowerCase()) : null
    if (!upload) throw new DomainError('NOT_FOUND', 'There is no such upload: it was ended, or is not yours. Begin it again.')
    if (upload.assetId === null && upload.expiresAt.getTime() <= context.clock.now().getTime())
      return told(request, 410, 'NOT_FOUND', 'The upload has expired: begin it again.')
    if (method === 'HEAD') {
      // If all bytes are present the client sends nothing more, so an interrupted completion is finished now.
      const now = await whole(context, upload)
      return new Response(null, { status: 200, headers: { ...standing(now), 'upload-length': String(now.bytes) } })
    }
    if (method === 'PATCH') return await goOn(context, upload, request)
    if (method === 'DELETE') {
      if (upload.assetId !== null) throw new DomainError('CONFLICT', 'The upload is complete and became an asset: delete the asset instead.')
      await endUpload(context, upload)
      return new Response(null, { status: 204 })
    }
    return problem(request, 'NOT_FOUND', `There is nothing at ${method} here.`)
  } catch (error) {
    if (error instanceof Ended) return told(request, error.status, 'BAD_USER_INPUT', error.message)
    if (error instanceof Overtaken) return told(request, 409, 'CONFLICT', 'Another request continues this upload: send HEAD for its offset.')
    if (error instanceof Stalled)
      return told(request, 408, 'BAD_USER_INPUT', 'No bytes arrived for too long: send HEAD for the offset, and continue from there.')
    if (error instanceof Altered) return told(request, 460, 'BAD_USER_INPUT', 'The bytes are not those that Upload-Checksum is of: send them again.')
    if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
    return problemOf(request, error as DomainError)
  }
}

/** Builds a problem answer with the status that the tus protocol requires. */
async function told(request: Request, status: number, code: 'BAD_USER_INPUT' | 'NOT_FOUND' | 'CONFLICT', sentence: string): Promise<Response> {
  const made = problem(request, code, sentence)
  return new Response(JSON.stringify({ ...((await made.json()) as object), status }), { status, headers: made.headers })
}

/** Returns the headers that state an upload's progress. */
function standing({ received, assetId, expiresAt }: UploadRow): Record<string, string> {
  return {
    'upload-offset': String(received),
    ...(assetId === null ? { 'upload-expires': expiresAt.toUTCString() } : { 'x-media-asset-id': assetId }),
  }
}

/** Parses `Upload-Metadata`: names with base64 values. @throws BAD_USER_INPUT */
function metadataOf(header: string | null): Readonly<Record<string, string>> {
  const entries = (header ?? '').split(',').flatMap((pair): [string, string][] => {
    const [name, value = ''] = pair.trim().split(' ')
    return name ? [[name, new TextDecoder().decode(Buffer.from(value, 'base64'))]] : []
  })
  return Object.fromEntries(entries)
}

async function create(context: Context, request: Request): Promise<Response> {
  const { brands, mediaUploads, viewer, publicUrl, clock, quotas, receiving } = context
  const length = request.headers.get('upload-length') ?? ''
  if (!/^\d{1,15}$/.test(length)) throw new DomainError('BAD_USER_INPUT', 'Upload-Length is missing: say how many bytes will come.', { field: 'Upload-Length' })
  const bytes = Number(length)
  if (bytes > mostBytes) throw new Ended(413, `A film may have ${mostBytes} bytes: send a shorter one.`)
  const mostTogether = quotas.uploadMiBAnOrganization * 1024 * 1024
  if (bytes > mostTogether) throw new Ended(413, `Uploads of an organization may have ${mostTogether} bytes: send a shorter one.`)
  if (bytes === 0) throw new DomainError('BAD_USER_INPUT', 'Upload-Length is 0: an empty file is no medium.', { field: 'Upload-Length' })
  const metadata = metadataOf(request.headers.get('upload-metadata'))
  const brand = await brands.require(metadata.brandId ?? '', 'brandId')
  const filename = requireName(metadata.filename || 'upload', 'filename', 255)
  const altText = readAltText(metadata.altText)
  const folderId = readId(metadata.folderId || null, 'folderId')
  const now = clock.now()
  const hasBody = request.body !== null && request.headers.get('content-type') === 'application/offset+octet-stream'
  const begin = async (): Promise<Response> => {
    const made = await inTransaction(context, async unit => {
      await requireRoom(context, brand.id, unit)
      await requireFolder(context, brand.id, folderId, unit)
      const open = await mediaUploads.openOf(brand, now, unit.transaction)
      if (open.ofBrand >= mostOpen)
        throw new DomainError('RATE_LIMITED', `${mostOpen} uploads of the brand are under way: finish or end some of them.`, { retryAfter: 60 })
      if (open.bytes + bytes > mostTogether)
        throw new DomainError(
          'RATE_LIMITED',
          `Uploads of ${open.bytes} bytes are under way in the organization, which may have ${mostTogether} at once: finish or end some of them.`,
          { retryAfter: 60 },
        )
      const row = { brandId: brand.id, id: newId(now), filename, altText, folderId, bytes, authorId: viewer.userId, createdBy: actorOf(viewer) }
      return mediaUploads.insert({ ...row, expiresAt: new Date(now.getTime() + uploadRestsMs), createdAt: now, updatedAt: now }, unit.transaction)
    })
    const location = `${publicUrl}${uploadPath}/${made.id}`
    const upload = hasBody ? await taken(context, made, request) : made
    return new Response(null, { status: 201, headers: { ...standing(upload), location } })
  }
  return hasBody ? receiving.one(brand.organizationId, begin) : begin()
}

async function goOn(context: Context, upload: UploadRow, request: Request): Promise<Response> {
  if (request.headers.get('content-type') !== 'application/offset+octet-stream')
    return told(request, 415, 'BAD_USER_INPUT', 'Parts of an upload come as application/offset+octet-stream.')
  const offset = request.headers.get('upload-offset') ?? ''
  if (!/^\d{1,15}$/.test(offset)) throw new DomainError('BAD_USER_INPUT', 'Upload-Offset is missing: say where this part begins.', { field: 'Upload-Offset' })
  if (Number(offset) !== upload.received) return told(request, 409, 'CONFLICT', `The upload is at ${upload.received}, not at ${offset}: go on from there.`)
  const brand = await context.brands.require(upload.brandId)
  requireInUse(brand)
  const now = await context.receiving.one(brand.organizationId, () => taken(context, upload, request))
  return new Response(null, { status: 204, headers: standing(now) })
}

/** Accepts a request body; a complete upload becomes an asset. */
async function taken(context: Context, upload: UploadRow, request: Request): Promise<UploadRow> {
  const now = upload.assetId === null ? await receive(context, upload, { body: request.body, proven: checksumOf(request) }) : upload
  return whole(context, now)
}

/** Returns the upload, with its asset if it is complete. */
async function whole(context: Context, upload: UploadRow): Promise<UploadRow> {
  if (upload.assetId !== null || upload.received < upload.bytes) return upload
  return { ...upload, assetId: await completed(context, upload) }
}

/**
 * Returns the checksum of `Upload-Checksum` that the body must match. @throws BAD_USER_INPUT for an unknown algorithm
 */
function checksumOf(request: Request) {
  const header = request.headers.get('upload-checksum')
  if (header === null) return undefined
  const [name = '', value = ''] = header.trim().split(' ')
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (!algorithm)
    throw new DomainError('BAD_USER_INPUT', `Upload-Checksum names ${name.slice(0, 20)}: sha1, sha256 and md5 are known.`, { field: 'Upload-Checksum' })
  const hash = createHash(algorithm)
  return { update: (piece: Uint8Array) => void hash.update(piece), holds: () => hash.digest('base64') === value }
}
