import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { newId, readId, requireName } from '../../../../platform/ids.ts'
import { problemOf } from '../../../http/problem.ts'
import { findEarlier, inTransaction } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { readAltText } from '../asset/rules.ts'
import { shownAsset } from '../asset/shown.ts'
import { digestOf } from '../file/digest.ts'
import { kindOf, noMedium, tooLarge, typeOf } from '../file/type.ts'
import { requireFolder } from '../folder/rules.ts'
import { createPicture, requireRoom } from '../keep.ts'

/** Path to which pictures are uploaded as a raw body. */
export const directPath = '/publishing/api/media'

const known = new Set(['brandId', 'filename', 'folderId', 'altText'])

/** Accepts the raw upload of a picture or GIF. */
export async function answerDirect(context: Context, request: Request): Promise<Response> {
  try {
    const { searchParams } = new URL(request.url)
    for (const name of searchParams.keys())
      if (!known.has(name))
        throw new DomainError('BAD_USER_INPUT', `There is no query parameter "${name.slice(0, 80)}" here: known are ${[...known].join(', ')}.`, {
          field: name.slice(0, 80),
        })
    const brand = await context.brands.require(searchParams.get('brandId') ?? '', 'brandId')
    const bytes = await request.bytes()
    if (bytes.byteLength === 0) throw new DomainError('BAD_USER_INPUT', 'The body is missing: send the bytes of a picture or GIF.')
    const type = typeOf(bytes)
    if (!type) throw new DomainError('BAD_USER_INPUT', noMedium)
    if (kindOf(type) === 'VIDEO') throw new DomainError('BAD_USER_INPUT', 'Films are uploaded in parts: begin at POST /publishing/api/media/uploads.')
    const wrong = tooLarge(type, bytes.byteLength)
    if (wrong) throw new DomainError('BAD_USER_INPUT', wrong, { reason: 'TOO_LARGE' })
    const folderId = readId(searchParams.get('folderId'), 'folderId')
    const given = {
      brandId: brand.id,
      filename: requireName(searchParams.get('filename') || 'picture', 'filename', 255),
      altText: readAltText(searchParams.get('altText')),
      folderId,
    }
    const idempotencyKey = request.headers.get('idempotency-key')
    const { row, repeated } = await context.receiving.hold(brand.organizationId, bytes.byteLength, async () => {
      // The key includes a digest of the request, because no other code compares it.
      const once = { ...given, sha256: idempotencyKey === null ? '' : await digestOf(bytes), idempotencyKey } as { idempotencyKey: string | null }
      const earlier = await context.receiving.keeping.run(brand.organizationId, async () => {
        const known = await findEarlier(context, { of: context.mediaAssets, once, tenantId: brand.organizationId })
        if (known) return known
        await inTransaction(context, async unit => {
          await requireRoom(context, brand.id, unit)
          await requireFolder(context, brand.id, folderId, unit)
        })
        return null
      })
      if (earlier) return { row: earlier, repeated: true }
      return createPicture(context, {
        ...given,
        organizationId: brand.organizationId,
        id: newId(context.clock.now()),
        once,
        source: 'UPLOAD',
        authorId: context.viewer.userId,
        createdBy: actorOf(context.viewer),
        type,
        bytes,
        places: context.receiving.keeping,
      })
    })
    return Response.json(shownAsset(context, row), {
      status: 201,
      headers: {
        location: `${directPath}/${row.id}`,
        etag: `"${row.version}"`,
        'cache-control': 'no-store',
        ...(repeated && { 'idempotent-replayed': 'true' }),
      },
    })
  } catch (error) {
    if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
    const refused = problemOf(request, error as DomainError)
    return (error as DomainError).extensions.reason === 'TOO_LARGE' ? new Response(refused.body, { status: 413, headers: refused.headers }) : refused
  }
}
