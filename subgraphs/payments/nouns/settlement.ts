import type { Noun } from '../../wiring/define.ts'
import { resyncBatches } from '../engines/settlement/announce.ts'
import { callbackSweep } from '../engines/settlement/callbacks.ts'
import { settlementSweep } from '../engines/settlement/run.ts'
import { settlementResolvers } from '../transaction/settlement/resolvers.ts'
import type { At } from './services.ts'

/** Batches of transfers, and what their submitter hears of them. */
export const settlement: Noun<At> = {
  resolvers: settlementResolvers,
  sweeps: ({ job }) => [settlementSweep(() => job('settlement')), callbackSweep(() => job('settlement'))],
  resync: ({ foundation: { events }, job }) => resyncBatches(events, (batchId, since) => job('events').settlementBatches.changedSince(batchId, since)),
}
