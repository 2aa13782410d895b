import type { AppTokens } from '../../config/readers.ts'
import { readDemoFile, writeDemoFile } from '../../db/demo-file.ts'
import { lineOf } from '../../start-error.ts'
import * as agentsDemo from '../../subgraphs/agents/demo.ts'
import * as identityDemo from '../../subgraphs/identity/setup/demo.ts'
import * as paymentsDemo from '../../subgraphs/payments/demo.ts'
import { provideDemoCard, provideDemoParties } from '../../subgraphs/payments/parties/demo.ts'
import * as providersDemo from '../../subgraphs/providers/demo/demo.ts'
import * as publishingDemo from '../../subgraphs/publishing/brand/demo.ts'
import { connectDemo } from '../../subgraphs/publishing/connection/demo.ts'
import { provideDemoMedia } from '../../subgraphs/publishing/media/demo.ts'
import { everyNetwork } from '../../subgraphs/publishing/network/networks.ts'
import type { Home } from './home.ts'
import type { TrialTokens } from './keys.ts'
import { type OpenSandbox, openSandbox } from './sandbox.ts'
import type { Configured } from './settings.ts'
import type { Process } from './startup.ts'

/** What is there to try the platform with: the sandbox, and what is to be found in the database. */
export interface Demo {
  readonly accounts: readonly string[]
  readonly password: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  /** Its mail server. */
  readonly mailServer: OpenSandbox['mailServer']
  readonly mailing: OpenSandbox['mailing']
  /** Whether our mails go there: no other mail server is configured. */
  readonly takesMails: boolean
  /** Our applications at its networks. */
  readonly applications: Configured['applications']
  /** Where its networks are. */
  readonly whereabouts: Configured['whereabouts']
  /** What is otherwise than one would expect, a sentence each: more of them once the demo was provided. */
  readonly notices: readonly string[]
  /** Makes what is missing of the demo data, leaves alone what is there, and writes its ids for `npm run demo:ids`. */
  provide(home: Home): Promise<void>
}

/**
 * Opens the sandbox.
 * @param tokens  of services, by app, for whoever tries the platform
 * @param gateway what the gateway to providers is tried with
 */
export async function openDemo({ config, log, stack }: Process, tokens: AppTokens, gateway: TrialTokens | null): Promise<Demo> {
  const { dataDir } = config
  const { origin: sandbox, applications, whereabouts, mailServer, mailing, processor, moved, stop } = await openSandbox(config)
  stack.defer(stop)
  const notices = [...moved]
  return {
    ...identityDemo.demoAccounts,
    sandbox,
    applications,
    whereabouts,
    mailServer,
    mailing,
    takesMails: mailServer !== null && !config.mail.server,
    notices,
    async provide({ defined: { agents, identity, payments, providers, publishing }, outbound }) {
      const { organizationId, userId, memberId, apiKey } = await identityDemo.provideDemo(identity!, readDemoFile(dataDir)?.apiKey ?? null)
      const job = publishing!.job(`user:${userId}`)
      const { brandId, threadId, postIds } = await publishingDemo.provideDemo(job, { organizationId, userId })
      await provideDemoMedia(job, { brandId, userId })
      const paying = payments!.job(`user:${userId}`)
      const ordered = await paymentsDemo.provideDemo(paying, { organizationId, userId })
      const parties = await provideDemoParties(paying, { organizationId, userId, merchantId: ordered.merchantId })
      await providersDemo.provideDemo(providers!.job(`user:${userId}`), { organizationId, userId, sandbox, mailServer, outbound })
      // A start must not depend on a network's answer. After the gateway, because one of the networks is called through it.
      const left = await connectDemo(publishing!.job(`user:${userId}`), { brandId, userId, sandbox, outbound })
      for (const { platform, error } of left)
        notices.push(`the demo brand is not connected, the sandbox's ${everyNetwork[platform].title} failed (${lineOf(error)}): the next start tries again`)
      await provideDemoCard(paying, parties.customerId).catch(error =>
        notices.push(`the demo customer has no card, the sandbox's processor failed (${lineOf(error)}): the next start tries again`),
      )
      const { personProfileId } = await agentsDemo.provideDemo(agents!.job(`user:${userId}`), { organizationId, userId, subjectId: memberId })
      writeDemoFile(dataDir, {
        organizationId,
        brandId,
        threadId,
        postIds,
        apiKey,
        payments: { ...ordered, ...parties, ...processor },
        personProfileId,
        serviceTokens: firstOf(tokens),
        ...(gateway && {
          providers: {
            serviceTokens: {
              primary: gateway.PROVIDERS_SERVICE_TOKEN,
              staged: gateway.TRUSTED_SERVICE_TOKENS,
              support: gateway.SUPPORT_PROVIDERS_SERVICE_TOKEN,
            },
          },
        }),
        sandbox,
      })
      log.debug({ brandId }, 'demo data created')
    },
  }
}

/** The token of each app that counts longest, where it has several. */
const firstOf = (tokens: AppTokens): Readonly<Record<string, string>> =>
  Object.fromEntries([...tokens].flatMap(([app, [token]]) => (token ? [[app, token]] : [])))
