import type { Transaction } from 'sequelize'
import { checkSameContent, readIdempotency } from '../../../platform/idempotency.ts'
import { newId, requireId } from '../../../platform/ids.ts'
import { requireRoom } from '../../../platform/limit.ts'
import { announceBrand } from '../announce.ts'
import { actorOf } from '../audit.ts'
import type { Context } from '../context.ts'
import { checkVersion } from '../post/rules.ts'
import type { ArchiveBrandInput, CreateBrandInput } from '../resolvers.generated.ts'
import { activeOrganization, owned, readDescription, readName } from './rules.ts'
import type { BrandRow } from './table.ts'

/** Makes a brand for the active organization, or hands back the one that the same key made before. */
export async function createBrand(context: Context, input: CreateBrandInput): Promise<BrandRow> {
  const { viewer, sequelize, brands, clock, audit, quotas } = context
  const organizationId = activeOrganization(viewer, 'Brands')
  const words = { name: readName(input.name), description: readDescription(input.description) }
  const idempotency = readIdempotency(input)
  const now = clock.now()
  const createdBy = actorOf(viewer)
  const brand = await sequelize.transaction(async transaction => {
    const made = await brands.madeFor(organizationId, transaction)
    const earlier = idempotency && (await brands.findRepeated(organizationId, createdBy, idempotency.key, transaction))
    if (earlier) checkSameContent(earlier.idempotencyHash, idempotency, 'brand')
    if (earlier) return earlier
    requireRoom(made, { inAll: quotas.brandsAnOrganization, aDay: Number.POSITIVE_INFINITY }, 'brands in this organization', 'work with one of them', now)
    const id = newId(now)
    await audit(transaction, { brandId: id, actor: createdBy, action: 'brand.created', subjectId: id, at: now })
    const keys = { idempotencyKey: idempotency?.key ?? null, idempotencyHash: idempotency?.hash ?? null }
    return brands.create({ id, organizationId, ...words, ...keys, createdAt: now, updatedAt: now, createdBy }, transaction)
  })
  context.brandById.clear(brand.id).prime(brand.id, brand)
  return brand
}

/**
 * Changes a brand under its lock, with its audit in the same transaction. What changes nothing leaves version and audit alone.
 * @param action how the audit calls it
 * @param decide what becomes of the brand as it stands under its lock
 */
export async function changeBrand(
  context: Context,
  input: ArchiveBrandInput,
  action: string,
  decide: (brand: BrandRow, now: Date, transaction: Transaction) => Promise<Partial<BrandRow>>,
): Promise<BrandRow> {
  const { viewer, sequelize, brands, clock, audit, events } = context
  const id = requireId(input.id, 'id')
  owned(viewer, await context.brandById.load(id), id)
  const { before, after } = await sequelize.transaction(async transaction => {
    const brand = owned(viewer, await brands.lock(id, transaction), id)
    checkVersion(brand.version, input.expectedVersion, 'brand')
    const now = clock.now()
    const changes = await decide(brand, now, transaction)
    if (Object.keys(changes).length === 0) return { before: brand, after: brand }
    const row = await brands.update(brand, { ...changes, updatedAt: now, version: brand.version + 1 }, transaction)
    await audit(transaction, { brandId: id, actor: actorOf(viewer), action, subjectId: id, at: now, details: { version: row.version } })
    return { before: brand, after: row }
  })
  context.brandById.clear(id).prime(id, after)
  if (before.archivedAt !== after.archivedAt) announceBrand(events, after)
  return after
}
