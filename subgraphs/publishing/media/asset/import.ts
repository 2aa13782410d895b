import { createHash, randomBytes } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, readId, requireName } from '../../../../platform/ids.ts'
import { isRefusedAddress, OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { StreamedAnswer } from '../../../../platform/outbound/stream.ts'
import { create, findEarlier, inTransaction } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { ImportMediaInput } from '../../resolvers.generated.ts'
import type { MediaAssetRow, MediaType, Part } from '../../stores/media/asset.ts'
import { kindOf, noMedium, tooLarge, typeOf } from '../file/type.ts'
import { requireFolder } from '../folder/rules.ts'
import { createPicture, discardObjects, isRefused, keepObject, requireRoom } from '../keep.ts'
import { prepareMedia } from '../prepare.ts'

/** Limits of an import: size in bytes, and duration in ms. */
const most = { bytes: 100 * 1024 * 1024, ms: 25_000 } as const
/** Size of the parts in which the file is stored, in bytes. */
const partBytes = 8 * 1024 * 1024
/** Number of bytes after which the file's type is checked: a file that is no medium is fetched no further. */
const firstBytes = 64 * 1024
/** Maximum number of redirects that an import follows; shared links usually redirect once or twice. */
const mostRedirects = 5
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Returns a file name for an address: its last path segment. */
function nameOf(url: URL): string {
  const last = url.pathname.split('/').findLast(Boolean) ?? ''
  try {
    return requireName(decodeURIComponent(last), 'filename', 255)
  } catch {
    return 'import'
  }
}

/**
 * Fetches a file from a public address into a brand's library. No fetched part is left over, whatever the result.
 * @throws BAD_USER_INPUT, UPSTREAM_FAILED, NOT_FOUND, CONFLICT
 */
export async function importMedia(context: Context, input: ImportMediaInput): Promise<MediaAssetRow> {
  const { brands, mediaAssets, viewer, clock } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const folderId = readId(input.folderId, 'folderId')
  const claim = { of: mediaAssets, once: input, tenantId: brand.organizationId }
  const earlier = await findEarlier(context, claim)
  if (earlier) return earlier
  await inTransaction(context, async unit => {
    await requireRoom(context, brand.id, unit)
    await requireFolder(context, brand.id, folderId, unit)
  })
  const url = new URL(String(input.url))
  const id = newId(clock.now())
  const parts: Part[] = []
  /** Whether a row refers to the parts, or may refer to them. */
  let isNamed = false
  try {
    const type = await fetchInto(context, url, brand.id, parts)
    const given = {
      brandId: brand.id,
      filename: nameOf(url),
      altText: null,
      folderId,
      source: 'IMPORT',
      authorId: viewer.userId,
      createdBy: actorOf(viewer),
    } as const
    if (kindOf(type) !== 'VIDEO') {
      const { organizationId } = brand
      const held = parts.reduce((sum, { bytes }) => sum + bytes, 0)
      const { row } = await context.receiving.hold(organizationId, held, async () =>
        createPicture(context, {
          ...{ ...given, organizationId, once: input, id, type },
          bytes: await readParts(context, parts),
          places: context.receiving.keeping,
        }),
      )
      return row
    }
    isNamed = true
    const { row, repeated } = await create(context, {
      ...claim,
      id,
      async run(unit) {
        await requireRoom(context, brand.id, unit)
        const keys = parts.map(({ key }) => key)
        await context.mediaObjects.spare(keys, unit.transaction)
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
        const stamps = { createdAt: unit.now, updatedAt: unit.now }
        return { id, ...given, kind: 'VIDEO' as const, mimeType: type, bytes, parts, status: 'PROCESSING' as const, ...stamps }
      },
      wake: (asset, { now, transaction }) => prepareMedia(context.jobs, { ...asset, organizationId: brand.organizationId }, now, transaction),
      audit: asset => ({ tenantId: asset.brandId, action: 'media.created', subjectId: asset.id, details: { kind: asset.kind, source: asset.source } }),
    }).catch(error => {
      isNamed = !isRefused(error)
      throw error
    })
    isNamed = !repeated
    return row
  } finally {
    if (!isNamed)
      await discardObjects(
        context,
        brand.id,
        parts.map(({ key }) => key),
      )
  }
}

async function readParts({ storage }: Context, parts: readonly Part[]): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for (const { key } of parts) pieces.push(new Uint8Array(await new Response(await storage.get(key)).arrayBuffer()))
  return Buffer.concat(pieces)
}

const refuse = (sentence: string, more: object = {}) => new DomainError('BAD_USER_INPUT', sentence, { field: 'url', ...more })

/**
 * Fetches a file and stores it in parts.
 * @param parts called with each stored part, so that the caller knows the parts even if the import fails
 * @throws BAD_USER_INPUT, UPSTREAM_FAILED
 */
async function fetchInto(context: Context, url: URL, brandId: string, parts: Part[]): Promise<MediaType> {
  try {
    const answer = await follow(context, url)
    const name = createHash('sha256').update(url.href).update(randomBytes(16)).digest('hex').slice(0, 32)
    let type = null as MediaType | null
    let held: Uint8Array[] = []
    let bytes = 0
    let all = 0
    const keep = async () => {
      if (bytes === 0) return
      const whole = Buffer.concat(held)
      if (parts.length === 0) type = typeOf(whole)
      if (type === null) throw refuse(noMedium)
      const wrong = tooLarge(type, all)
      if (wrong) throw refuse(wrong, { reason: 'TOO_LARGE' })
      const part = { key: `imports/${name}/${parts.length}`, bytes }
      parts.push(part)
      await keepObject(context, brandId, part.key, whole, { contentType: 'application/octet-stream', bytes })
      held = []
      bytes = 0
    }
    for await (const piece of answer.body) {
      held.push(piece)
      bytes += piece.byteLength
      all += piece.byteLength
      if (bytes >= partBytes || (parts.length === 0 && bytes >= firstBytes)) await keep()
    }
    await keep()
    if (type === null) throw refuse(noMedium)
    return type
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    if (isRefusedAddress(error)) throw notPublic()
    if (error.kind === 'large') throw refuse(`The file has more than ${most.bytes} bytes: upload it in parts.`, { reason: 'TOO_LARGE' })
    throw new DomainError('UPSTREAM_FAILED', `Nothing came from ${url.origin}: ${error.message}`)
  }
}

const notPublic = () => refuse('The address is not public, or leads to one that is not: files are fetched from public addresses alone.')

/**
 * Requests an address and follows its redirects, each only if the address is allowed: callers must not make us request
 * our internal addresses. One timeout covers all requests.
 * @throws BAD_USER_INPUT, UPSTREAM_FAILED, OutboundFailure
 */
async function follow({ callersWay: { outbound, reaches }, leaving }: Context, first: URL): Promise<StreamedAnswer> {
  const deadline = performance.now() + most.ms
  let url = first
  for (let followed = 0; followed <= mostRedirects; followed += 1) {
    if (!/^https?:$/.test(url.protocol) || !(await reaches(url))) throw notPublic()
    const totalMs = Math.max(1, Math.round(deadline - performance.now()))
    const answer = await outbound.stream(url, { totalMs, mostBytes: most.bytes, signal: leaving })
    if (answer.status === 200) return answer
    answer.cancel()
    const next = redirects.has(answer.status) ? URL.parse(answer.headers.get('location') ?? '', url) : null
    if (!next) throw new DomainError('UPSTREAM_FAILED', `${url.origin} answered ${answer.status} instead of a file.`)
    url = next
  }
  throw new DomainError('UPSTREAM_FAILED', `${first.origin} redirects more than ${mostRedirects} times.`)
}
