import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** Makes publishing a client of the gateway that may call video networks, as the demo and operators do. */
export async function letPublishingCall({ platform, clock }: Pick<Supergraph, 'platform' | 'clock'>): Promise<void> {
  const gateway = platform.providers.job('test')
  const client = { id: newId(), appId: 'app_publishing', name: 'Publishing', operations: ['VIDEO' as const], active: true }
  const stamps = { createdAt: clock.now(), updatedAt: clock.now(), createdBy: 'test' }
  await inTransaction(gateway, ({ transaction }) => gateway.serviceClients.insert({ ...client, ...stamps }, transaction))
}
