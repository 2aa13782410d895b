import { idOfName } from '../../../platform/ids.ts'
import type { ServiceOperation } from '../../scopes.ts'
import { inTransaction } from '../../store/write.ts'
import type { DemoPart } from './part.ts'

/** Apps that call the gateway in the demo, with their operations. */
const clients: readonly (readonly [appId: string, name: string, operations: readonly ServiceOperation[]])[] = [
  ['app_publishing', 'Publishing', ['COMPLETIONS', 'IMAGES', 'NETWORK_APPLICATIONS', 'VIDEO']],
  ['app_agents', 'Agents', ['COMPLETIONS', 'EMBEDDINGS', 'TRANSCRIPTIONS']],
  ['app_payments', 'Payments', ['EMAIL', 'PAYMENTS', 'TRANSFERS']],
  ['app_launcher', 'Launcher', ['EMAIL', 'PAYMENTS']],
  ['app_notifications', 'Notifications', ['EMAIL']],
  ['app_mail', 'Mail', ['COMPLETIONS', 'TRANSCRIPTIONS']],
  ['app_support', 'Support', ['COMPLETIONS', 'EMAIL']],
  // This client signs its own tokens.
  ['app_studio', 'Studio', []],
]

/** Returns the id of a client that the demo has created. @param organizationId the demo's */
const demoClientId = (organizationId: string, appId: string): string => idOfName(organizationId, appId)

/** Returns the ids of all clients that a demo of these organizations has created. */
export const demoClientIds = (organizations: readonly string[]): readonly string[] =>
  organizations.flatMap(organizationId => clients.map(([appId]) => demoClientId(organizationId, appId)))

/** Creates missing clients of the demo's apps; existing ones stay unchanged. */
export const provideServiceClients: DemoPart = async (job, { organizationId, userId }) => {
  for (const [appId, name, operations] of clients)
    await inTransaction(job, async ({ transaction, now }) => {
      const { alike } = await job.serviceClients.countedWith(appId, transaction)
      if (alike > 0) return
      const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${userId}` }
      await job.serviceClients.insert({ id: demoClientId(organizationId, appId), appId, name, operations, active: true, ...stamps }, transaction)
    })
}
