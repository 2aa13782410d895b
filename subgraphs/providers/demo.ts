import { idOfName } from '../../platform/ids.ts'
import type { Deletion, Run } from '../store/removal.ts'
import { inTransaction } from '../store/write.ts'
import type { Job } from './context.ts'
import { mask } from './credential/rules.ts'

const name = 'demo-models'

/** A key that the sandbox takes for good, and nobody else for one. */
const secret = 'sk-sandbox-demo-models'

/** Whose the demo is, and where the third parties are that are played for it. */
export interface DemoPlace {
  readonly organizationId: string
  readonly userId: string
  /** Origin of the sandbox. */
  readonly sandbox: string
}

/** Makes the demo's own credential, of a provider that the sandbox plays, if it is missing; it is led to where the sandbox listens now. @param job in the owner's name */
export const provideDemo = (job: Job, { organizationId, userId, sandbox }: DemoPlace): Promise<void> =>
  inTransaction(job, async ({ transaction, now }) => {
    const { credentials } = job
    const baseUrl = `${sandbox}/openai/v1`
    // Whoever starts at the same moment waits here, and finds it.
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

/** What goes of providers with organizations, beside what belongs to these: credentials of the platform that somebody of them has kept. */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  const made = await run<{ id: string }>(
    `select subject_id as id from providers.audit_entries where action = 'credential.created' and tenant_id = any($1::uuid[])`,
    [organizations],
  )
  return [{ sql: 'delete from providers.credentials where organization_id is null and id = any($1::uuid[])', bind: [made.map(({ id }) => id)] }]
}
