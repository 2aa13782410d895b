import { newId } from '../../../../platform/ids.ts'
import { mask } from '../../../../subgraphs/providers/credential/rules.ts'
import type { CredentialRow } from '../../../../subgraphs/providers/stores/credential/credential.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

export interface CredentialSeed {
  /** Null: the platform's. */
  readonly organizationId: string | null
  readonly provider?: string
  /** @default one that no other has */
  readonly name?: string
  readonly secret?: string
  /** The fields that are no secret. @default none */
  readonly plain?: Readonly<Record<string, string>>
}

/** A credential, past every rule: of a custom provider, unless said otherwise. */
export async function seedCredential(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, provider = 'custom', name, secret = 'sk-of-a-test-alone', plain = {} }: CredentialSeed,
): Promise<CredentialRow> {
  const now = clock.now()
  const id = newId(now)
  const job = platform.providers.job('test')
  const place = { id, level: organizationId ? ('ORGANIZATION' as const) : ('PLATFORM' as const), organizationId, provider, name: name ?? `models-${id}` }
  const sealed = { secret: job.credentials.seal(id, secret), masked: mask(secret), plain, baseUrl: provider === 'custom' ? 'https://models.test/v1' : null }
  return inTransaction(job, ({ transaction }) =>
    job.credentials.insert({ ...place, ...sealed, createdAt: now, updatedAt: now, createdBy: 'test' }, transaction),
  )
}
