import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { resyncLimits } from '../engines/spend/announce.ts'
import type { Spending } from '../engines/spend/open.ts'
import { spendResolvers } from './resolvers.ts'

interface At extends Base<Job, unknown> {
  readonly services: { readonly spending: Spending }
}

/** Spend limits and usage. */
export const spend: Noun<At> = {
  resolvers: spendResolvers,
  sweeps: ({ services: { spending } }) => spending.sweeps,
  retention: ({ services: { spending } }) => spending.retentionRules,
  resync: ({ foundation: { events }, job }) => resyncLimits(events, id => job('spend').spendLimits.byId.load(id)),
  stop: ({ services: { spending } }) => spending.stop(),
}
