import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { checkText, newId, readId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { create, findEarlier, inTransaction } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { GenerateImagesInput, ImageSize } from '../../resolvers.generated.ts'
import type { GeneratedImageRow } from '../../stores/media/image.ts'
import { askModels } from '../asking.ts'
import { NoPicture } from '../file/picture.ts'
import { kindOf, typeOf } from '../file/type.ts'
import { keptWhile, lookAt, requireRoom, type Seen, spare, turnsOf } from '../keep.ts'
import { DrawImagesDocument } from './ask.generated.ts'

const sizes: Readonly<Record<ImageSize, string>> = { SQUARE: '1024x1024', PORTRAIT: '1024x1536', LANDSCAPE: '1536x1024' }

export const most = { images: 4, prompt: 32_000 } as const

/** Scope of users who may choose the model that generates pictures. */
const namesModels = 'providers:org.admin'

/** Maximum number of requests of an organization per minute; each process counts separately. */
export const imageRequests = { most: 20, windowMs: 60_000 } as const

/** Generates pictures into a brand's library. @throws DomainError */
export async function generateImages(context: Context, input: GenerateImagesInput): Promise<readonly GeneratedImageRow[]> {
  const { brands, posts, clock, viewer, generatedImages, drawing } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const postId = readId(input.postId, 'postId')
  if (postId !== null && (await posts.byId.load(postId))?.brandId !== brand.id) throw notFound('post', postId)
  if (input.model != null && !viewer.scopes.includes(namesModels))
    throw new DomainError('FORBIDDEN', `To name a model, the default one included, takes ${namesModels}: leave model out, or ask an admin to name it.`, {
      reason: 'override_not_permitted',
      field: 'model',
      requiredScopes: [namesModels],
    })
  const prompt = checkText(input.prompt, 'prompt').trim()
  const { length } = [...prompt]
  if (length < 1 || length > most.prompt)
    throw new DomainError('BAD_USER_INPUT', `prompt has ${length} characters: it takes 1 to ${most.prompt}.`, { field: 'prompt' })
  const n = input.count ?? 1
  if (n < 1 || n > most.images) throw new DomainError('BAD_USER_INPUT', `count is ${n}: 1 to ${most.images} pictures are drawn at once.`, { field: 'count' })
  const claim = { of: generatedImages, once: input, tenantId: brand.organizationId }
  const earlier = await findEarlier(context, claim)
  if (earlier) return generatedImages.manyBy('groupId').load(earlier.groupId)
  await inTransaction(context, unit => requireRoom(context, brand.id, unit))
  const waitMs = drawing.wait(brand.organizationId, clock.now())
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1000)
    throw new DomainError(
      'RATE_LIMITED',
      `The organization has had pictures drawn ${imageRequests.most} times within a minute: go on in ${retryAfter} seconds.`,
      {
        retryAfter,
      },
    )
  }
  drawing.add(brand.organizationId, clock.now())
  const wanted = { prompt, n, size: sizes[input.size ?? 'SQUARE'], ...(input.model != null && { model: input.model }) }
  const { createImages } = await askModels(context, DrawImagesDocument, { input: wanted }).catch(error => {
    // An unknown model is NOT_FOUND at the gateway; here it is a wrong argument.
    if (input.model != null && codeOf(error) === 'NOT_FOUND')
      throw new DomainError('BAD_USER_INPUT', 'model is none of the catalogue: leave it out, or choose one that draws.', { field: 'model' })
    throw error
  })
  if (!createImages) throw new DomainError('UPSTREAM_FAILED', 'Nothing was drawn: try again.')
  const drawn: { readonly id: string; readonly seen: Seen; readonly filename: string }[] = []
  // Paid results wait for their turn, however much of the organization's work is queued.
  const inTurn = turnsOf(context, brand.organizationId, true)
  for (const { base64 } of createImages.images) {
    const id = newId(clock.now())
    const bytes = Buffer.from(base64, 'base64')
    const type = typeOf(bytes)
    if (!type || kindOf(type) === 'VIDEO') throw new DomainError('UPSTREAM_FAILED', 'The model answered something that is no picture: try again.')
    const seen = await lookAt(bytes, type, inTurn).catch(error => {
      throw error instanceof NoPicture ? new DomainError('UPSTREAM_FAILED', `The model answered a picture that cannot be used: ${error.message}`) : error
    })
    drawn.push({ id, seen, filename: `${seen.looked.sha256!.slice(0, 12)}.${type.slice('image/'.length)}` })
  }
  const groupId = newId(clock.now())
  const by = { authorId: viewer.userId, createdBy: actorOf(viewer) }
  const said = { brandId: brand.id, groupId, postId, prompt, model: createImages.model, requestedModel: input.model ?? null, ...by }
  const { row } = await keptWhile(context, brand.id, drawn, () =>
    create(context, {
      ...claim,
      id: groupId,
      async run(unit) {
        const stamps = { createdAt: unit.now, updatedAt: unit.now }
        await requireRoom(context, brand.id, unit)
        for (const [at, { id, seen, filename }] of drawn.entries()) {
          await context.mediaAssets.insert(
            { id, brandId: brand.id, filename, altText: null, folderId: null, source: 'GENERATED', status: 'READY', ...seen.looked, ...by, ...stamps },
            unit.transaction,
          )
          await spare(context, id, unit)
          if (at > 0) await generatedImages.insert({ ...said, id: newId(unit.now), assetId: id, ...stamps }, unit.transaction)
        }
        return { ...said, id: groupId, assetId: drawn[0]!.id, ...stamps }
      },
      audit: ({ id, model }) => ({ tenantId: brand.id, action: 'image.generated', subjectId: id, details: { model, count: drawn.length } }),
    }),
  )
  return generatedImages.manyBy('groupId').load(row.groupId)
}
