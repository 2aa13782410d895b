import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import { mask } from '../credential/rules.ts'
import { catalogue, type ProviderName } from '../engines/third-party/catalogue.ts'
import type { DemoPart } from './part.ts'

/** What is the platform's is known by the same ids on every machine. */
const ground = '00000000-0000-7000-8000-000000000000'

/** Networks at which the demo has an application of the platform; TikTok stands for those at which organizations keep their own. */
const networks = ['x', 'linkedin', 'linkedin_page', 'facebook', 'instagram', 'threads', 'youtube'] as const

/** What third parties are called with that the sandbox plays: it takes these for good, and nobody else does. */
const played: readonly { readonly provider: ProviderName; readonly name: string; readonly plain: Readonly<Record<string, string>>; readonly secret: string }[] =
  [
    { provider: 'openai', name: 'OpenAI', plain: {}, secret: 'sk-sandbox-platform-openai' },
    { provider: 'anthropic', name: 'Anthropic', plain: {}, secret: 'sk-sandbox-platform-anthropic' },
    { provider: 'stripe', name: 'Stripe', plain: {}, secret: 'sk_test_sandbox_platform' },
    ...networks.map(provider => ({
      provider,
      name: catalogue[provider].title,
      plain: { clientId: 'sandbox-platform' },
      secret: `sandbox-platform-of-${provider}`,
    })),
  ]

const idOf = (provider: string): string => idOfName(ground, `credential of ${provider}`)

/** Demo credentials that belong to no organization, for the removal of the demo. */
export const ofPlatform: readonly string[] = played.map(({ provider }) => idOf(provider))

/** Makes the platform's own credentials of what the sandbox plays, where there is none. */
export const providePlatform: DemoPart = (job, { userId }) =>
  inTransaction(job, async ({ transaction, now }) => {
    const { credentials } = job
    for (const { provider, name, plain, secret } of played) {
      // A process that starts at the same moment waits here and finds it.
      const { alike } = await credentials.ofOwner({ organizationId: null, provider, name }, transaction)
      if (alike > 0) continue
      const id = idOf(provider)
      const place = { id, level: 'PLATFORM' as const, organizationId: null, provider, name, baseUrl: null }
      const sealed = { secret: credentials.seal(id, secret), masked: mask(secret), plain }
      await credentials.insert({ ...place, ...sealed, createdAt: now, updatedAt: now, createdBy: `user:${userId}` }, transaction)
    }
  })
