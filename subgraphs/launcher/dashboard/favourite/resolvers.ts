import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId } from '../../../../platform/ids.ts'
import { findMade, writing } from '../../../store/books.ts'
import { remove, write } from '../../../store/write.ts'
import { actorOf, requirePerson } from '../../../viewer.ts'
import { iconPath } from '../../catalog/entry/rules.ts'
import type { Context } from '../../context.ts'
import type { AddFavouriteInput, OrderFavouritesInput, Resolvers } from '../../resolvers.generated.ts'
import { isEntitled } from '../../stores/commerce/entitlement.ts'
import type { FavouriteOwner, FavouriteRow } from '../../stores/dashboard/favourite.ts'
import { ordered, readTarget, requireRoom, sameOf, shownOf } from './rules.ts'

const ownerOf = ({ viewer }: Context): FavouriteOwner => ({ organizationId: viewer.organizationId, userId: requirePerson(viewer) })

/**
 * Returns a test for apps of the active context: installed there, in its catalogue and entitled. An app that is not among those given became a
 * favourite since, and so passes.
 */
async function usableApps({ installations, catalogEntries, entitlements }: Context, apps: readonly (string | null)[]): Promise<(app: string) => boolean> {
  const standing = await installations.standing()
  const installed = [...new Set(apps)].filter(app => app !== null && standing.has(app)) as string[]
  const entries = await Promise.all(installed.map(app => catalogEntries.ofApp(app)))
  const rights = await entitlements.rights()
  const usable = new Set(entries.flatMap(entry => (entry && isEntitled(entry, rights) ? [entry.app] : [])))
  return app => usable.has(app) || !apps.includes(app)
}

/** Returns the viewer's favourites in the active context that are shown. */
export async function shownFavourites(context: Context): Promise<readonly FavouriteRow[]> {
  const present = await context.favourites.of(ownerOf(context))
  return shownOf(
    present,
    await usableApps(
      context,
      present.map(({ app }) => app),
    ),
  )
}

async function add(context: Context, input: AddFavouriteInput): Promise<FavouriteRow> {
  const { viewer, favourites, isDevelopment } = context
  const owner = ownerOf(context)
  const target = readTarget(input, isDevelopment)
  // Read before the lock is taken, because waiting for it holds a connection.
  const known = await favourites.of(owner)
  const isUsable = await usableApps(context, [target.app, ...known.map(({ app }) => app)])
  if (target.app !== null && !isUsable(target.app))
    throw new DomainError('NOT_FOUND', `${target.app} is not installed in the active context.`, { app: target.app })
  return write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const present = await favourites.lockOf(owner, transaction)
      const same = sameOf(present, target)
      const id = same?.id ?? newId(now)
      const idempotency = readIdempotency(input)
      const tenantId = owner.organizationId ?? owner.userId
      const earlier = idempotency && (await findMade(context[writing], favourites, { tenantId, id, ...idempotency }, unit))
      if (earlier ?? same) return (earlier ?? same)!
      requireRoom(present, isUsable)
      const position = 1 + Math.max(-1, ...present.map(row => row.position))
      return favourites.insert({ id, ...owner, ...target, position, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }, transaction)
    },
  })
}

async function order(context: Context, { ids }: OrderFavouritesInput): Promise<readonly FavouriteRow[]> {
  const { favourites } = context
  const owner = ownerOf(context)
  const known = await favourites.of(owner)
  const isUsable = await usableApps(
    context,
    known.map(({ app }) => app),
  )
  await write(context, {
    async run({ transaction, now }) {
      const present = await favourites.lockOf(owner, transaction)
      await favourites.arrange(ordered(present, shownOf(present, isUsable), ids), now, transaction)
    },
  })
  return shownFavourites(context)
}

export const favouriteResolvers: Resolvers = {
  Query: {
    favourites: async (_, __, context) => [...(await shownFavourites(context))],
  },
  Mutation: {
    addFavourite: (_, { input }, context) => add(context, input),
    removeFavourite: (_, { input: { id } }, context) => {
      requirePerson(context.viewer)
      return remove(context, { of: context.favourites, id })
    },
    orderFavourites: async (_, { input }, context) => [...(await order(context, input))],
  },
  Favourite: {
    __resolveReference: ({ id }, { favourites }) => favourites.byId.load(id),
    entry: ({ app }, _, { catalogEntries }) => (app === null ? null : catalogEntries.ofApp(app)),
    // The catalogue may have lost the app since: then its slug stands for it.
    title: async ({ app, title }, _, { catalogEntries }) => title ?? (await catalogEntries.ofApp(app!))?.title ?? app!,
    icon: ({ app }, _, { publicUrl }) => (app === null ? null : `${publicUrl}${iconPath(app)}`),
    order: ({ position }) => position,
  },
}
