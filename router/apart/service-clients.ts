import type { ServiceClient, ServiceClients } from '../../subgraphs/authority.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Origin } from '../engine/transport/exchange.ts'
import type { Seal } from '../engine/transport/seal.ts'
import { createQuestions, requireRouter } from './question.ts'

/** Path at which the gateway to providers answers the router's requests about services. */
export const serviceClientsPath = '/internal/service-clients'

/** Answers them in the gateway's process: to the router only. */
export const answerServiceClients =
  (clients: ServiceClients) =>
  async (viewer: Viewer, asked: unknown): Promise<unknown> => {
    requireRouter(viewer)
    return [...(await clients.serviceClients((asked as { readonly ids: readonly string[] }).ids))]
  }

/** Reads the service clients where the gateway runs in another process. */
export function createRemoteServiceClients({ origin, seal }: { readonly origin: Origin; readonly seal: Seal }): ServiceClients {
  const ask = createQuestions({ origin, seal, slug: 'providers', path: serviceClientsPath })
  return { serviceClients: async ids => new Map((await ask({ ids })) as readonly (readonly [string, ServiceClient])[]) }
}
