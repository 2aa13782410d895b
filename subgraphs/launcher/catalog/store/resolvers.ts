import { DomainError } from '../../../../platform/errors.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { iconPath } from '../entry/rules.ts'
import { readStore, readStoreApp } from './read.ts'

export const storeAppResolvers: Resolvers = {
  Query: {
    storeApps: async (_, question, context) => (await readStore(context, question)).page,
    storeApp: async (_, { app }, context) => {
      const found = await readStoreApp(context, app)
      if (found) return found
      throw new DomainError('NOT_FOUND', `The store has no app ${app.slice(0, 80)}.`, { app: app.slice(0, 80) })
    },
  },
  StoreApp: {
    icon: ({ app }, _, { publicUrl }) => `${publicUrl}${iconPath(app)}`,
    version: ({ release }) => release,
  },
}
