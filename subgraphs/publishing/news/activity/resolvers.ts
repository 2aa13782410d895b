import { readPage } from '../../../../platform/page.ts'
import type { Context } from '../../context.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { latestFirst } from '../../stores/news/activity.ts'
import { eventsOfBrand } from '../announce.ts'
import { activityTopic } from './announce.ts'

interface Told {
  readonly brandId: string
  readonly id: string
}

export const activityResolvers: Resolvers = {
  Query: {
    async brandActivities(_, { brandId, ...page }, { brands, activities }) {
      const { id } = await brands.require(brandId, 'brandId')
      return activities.page(id, readPage(page, latestFirst))
    },
  },
  Subscription: {
    brandActivity: {
      subscribe: async (_, { brandId }, { brands, events }) => {
        const { id } = await brands.require(brandId, 'brandId')
        return eventsOfBrand(events.listen([activityTopic(id)]), id, ({ activityId }) => ({ brandId: id, id: activityId! }))
      },
      // Read for each event, with the viewer's present right to the brand.
      resolve: (told: Told, _: unknown, { activities }: Context) => activities.one.load(told),
    },
  },
  BrandActivity: {
    user: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
    post: ({ postId }, _, { posts }) => posts.find(postId),
    connection: ({ connectionId }, _, { connections }) => connections.find(connectionId),
  },
}
