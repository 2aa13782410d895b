import type { Noun } from '../../wiring/define.ts'
import { serviceAnswer, servicesPath } from '../service-entry/answer.ts'
import { serviceEntryResolvers } from '../service-entry/resolvers.ts'
import type { At } from './services.ts'

/** The registry of services. */
export const serviceEntry: Noun<At> = {
  resolvers: serviceEntryResolvers,
  handlers: ({ foundation: { clock, environment }, services: { production }, job }) => ({
    [`GET ${servicesPath}/*`]: serviceAnswer(async () => job('platform').serviceEntries.manyBy('environment').load(environment), production, clock),
  }),
}
