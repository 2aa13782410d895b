import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import { mask } from '../credential/rules.ts'
import type { DemoPart } from './part.ts'

const name = 'demo-models'

/** A key that the sandbox takes for good, and nobody else for one. */
const secret = 'sk-sandbox-demo-models'

/** Makes the demo's own credential, of a provider that the sandbox plays, if it is missing; it is led to where the sandbox listens now. */
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

/** Whether an address is the sandbox's of another start, and not one that a person has chosen since. */
const isAtSandbox = (baseUrl: string | null): boolean => /^http:\/\/(?:localhost|127\.0\.0\.1):\d+\/openai\/v1$/.test(baseUrl ?? '')
