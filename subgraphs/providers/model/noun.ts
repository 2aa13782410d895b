import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { rests } from '../stores/model/rests.ts'
import { modelResolvers } from './resolvers.ts'

interface At extends Base<Job, { readonly synchronisesModels: boolean }> {
  readonly services: { readonly modelRuns: { runWhenDue(): Promise<void> } }
}

/** Models and model sources. */
export const model: Noun<At> = {
  resolvers: modelResolvers,
  sweeps: ({ foundation: { sequelize, clock }, settings: { synchronisesModels }, services: { modelRuns } }) => [
    { name: 'rests that are over', everyMs: 60_000, run: () => rests.forget(sequelize, clock.now()) },
    ...(synchronisesModels ? [{ name: 'sources of models', everyMs: 60_000, asksOthers: true, run: () => modelRuns.runWhenDue() }] : []),
  ],
}
