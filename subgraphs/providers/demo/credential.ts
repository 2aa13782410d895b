import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import { mask } from '../credential/rules.ts'
import type { DemoPart } from './part.ts'

const name = 'demo-models'

/** A key that only the sandbox accepts. */
const secret = 'sk-sandbox-demo-models'

/**
 * Creates the demo's own credential for a provider that the sandbox plays, if missing, and points it to the sandbox's
 * present address.
 */
export const provideCredential: DemoPart = (job, { organizationId, userId, sandbox }) =>
  inTransaction(job, async ({ transaction, now }) => {
    const { credentials } = job
    const baseUrl = `${sandbox}/openai/v1`
    // A process that starts at the same moment waits here and finds it.
    await credentials.ofOwner({ organizationId, provider: 'custom', name }, transaction)
    const id = idOfName(organizationId, name)
    const known = await credentials.lock(id, transaction)
    if (known && known.baseUrl !== baseUrl && isAtSandbox(known.baseUrl)) await credentials.update(known, { baseUrl, updatedAt: now }, transaction)
    if (known) return
    const place = { id, level: 'ORGANIZATION' as const, organizationId, provider: 'custom', name, baseUrl }
    const sealed = { secret: credentials.seal(id, secret), masked: mask(secret) }
    await credentials.insert({ ...place, ...sealed, plain: {}, createdAt: now, updatedAt: now, createdBy: `user:${userId}` }, transaction)
  })

/** Whether an address belongs to the sandbox of an earlier start, and not to a person's choice. */
const isAtSandbox = (baseUrl: string | null): boolean => /^http:\/\/(?:localhost|127\.0\.0\.1):\d+\/openai\/v1$/.test(baseUrl ?? '')
