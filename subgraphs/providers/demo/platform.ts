import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import { mask } from '../credential/rules.ts'
import { catalogue, type ProviderName } from '../engines/third-party/catalogue.ts'
import type { DemoPart } from './part.ts'

/** Namespace of the ids of the demo's platform rows, the same on every machine. */
const ground = '00000000-0000-7000-8000-000000000000'

/** Networks at which the demo has a platform application; TikTok represents those with organizations' own. */
const networks = ['x', 'linkedin', 'linkedin_page', 'facebook', 'instagram', 'threads', 'youtube'] as const

/** The platform's key at the sandbox's payment processor. */
export const processorKey = 'sk_test_sandbox_platform'

/** Credentials that only the sandbox accepts. */
const played: readonly { readonly provider: ProviderName; readonly name: string; readonly plain: Readonly<Record<string, string>>; readonly secret: string }[] =
  [
    { provider: 'openai', name: 'OpenAI', plain: {}, secret: 'sk-sandbox-platform-openai' },
    { provider: 'anthropic', name: 'Anthropic', plain: {}, secret: 'sk-sandbox-platform-anthropic' },
    { provider: 'stripe', name: 'Stripe', plain: {}, secret: processorKey },
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

/** Creates the platform's credentials for what the sandbox plays, where there are none. */
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
