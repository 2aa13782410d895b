import { writing } from '../../../store/books.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { readWord } from '../rules.ts'
import { readGroups, readSince, shown, titleOf } from './rules.ts'

export const usageResolvers: Resolvers = {
  Query: {
    async usage(_, { groupBy, appId, since, until }, context) {
      const filter = {
        organizationId: activeOrganization(context.viewer, 'Usage'),
        by: readGroups(groupBy),
        appId: readWord(appId, 'appId'),
        since: readSince(since, context[writing].clock.now()).toISOString(),
        until: until?.toISOString() ?? null,
      }
      return (await context.callRecords.usage.load(filter)).map(shown)
    },
    async providerApps(_, __, context) {
      const organizationId = activeOrganization(context.viewer, 'Apps')
      const apps = await context.callRecords.appsSince(organizationId, readSince(null, context[writing].clock.now()))
      return apps.map(({ name, costMicros, ...app }) => ({ ...app, title: titleOf(app.appId, name), costMicros: BigInt(costMicros) }))
    },
  },
}
