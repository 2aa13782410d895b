import { readDemoFile, writeDemoFile } from '../../db/demo-file.ts'
import { lineOf } from '../../start-error.ts'
import * as agentsDemo from '../../subgraphs/agents/demo.ts'
import * as identityDemo from '../../subgraphs/identity/setup/demo.ts'
import * as paymentsDemo from '../../subgraphs/payments/demo.ts'
import * as providersDemo from '../../subgraphs/providers/demo.ts'
import * as publishingDemo from '../../subgraphs/publishing/demo.ts'
import type { Home } from './home.ts'
import { openSandbox } from './sandbox.ts'
import type { Configured } from './settings.ts'
import type { Process } from './startup.ts'

/** What is there to try the platform with: the sandbox, and what is to be found in the database. */
export interface Demo {
  readonly accounts: readonly string[]
  readonly password: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  /** Our applications at its networks. */
  readonly applications: Configured['applications']
  /** What is otherwise than one would expect, a sentence each: more of them once the demo was provided. */
  readonly notices: readonly string[]
  /** Makes what is missing of the demo data, leaves alone what is there, and writes its ids for `npm run demo:ids`. */
  provide(home: Home): Promise<void>
}

/** Opens the sandbox. */
export async function openDemo({ config, log, stack }: Process): Promise<Demo> {
  const { dataDir } = config
  const { origin: sandbox, applications, moved, stop } = await openSandbox(config)
  stack.defer(stop)
  const notices = moved ? [moved] : []
  return {
    ...identityDemo.demoAccounts,
    sandbox,
    applications,
    notices,
    async provide({ defined: { agents, identity, payments, providers, publishing }, outbound }) {
      const { organizationId, userId, memberId, apiKey } = await identityDemo.provideDemo(identity!, readDemoFile(dataDir)?.apiKey ?? null)
      const job = publishing!.job(`user:${userId}`)
      const { brandId, threadId, postIds } = await publishingDemo.provideDemo(job, { organizationId, userId })
      // No start depends on what the network answers.
      await publishingDemo.connectDemo(job, { brandId, userId, sandbox, outbound }).catch(error => {
        notices.push(`the demo brand is not connected, the sandbox's X failed (${lineOf(error)}): the next start tries again`)
      })
      const ordered = await paymentsDemo.provideDemo(payments!.job(`user:${userId}`), { organizationId, userId })
      await providersDemo.provideDemo(providers!.job(`user:${userId}`), { organizationId, userId, sandbox })
      const { personProfileId } = await agentsDemo.provideDemo(agents!.job(`user:${userId}`), { organizationId, userId, subjectId: memberId })
      writeDemoFile(dataDir, { organizationId, brandId, threadId, postIds, apiKey, payments: ordered, personProfileId, sandbox })
      log.debug({ brandId }, 'the demo world is there')
    },
  }
}
