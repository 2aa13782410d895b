import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parse } from 'graphql'
import type { AppTokens } from '../../config/readers.ts'
import { readDemoFile, writeDemoFile } from '../../db/demo-file.ts'
import { newId } from '../../platform/ids.ts'
import { lineOf } from '../../start-error.ts'
import { provideDemoAgent } from '../../subgraphs/agents/agent/demo.ts'
import { provideDemoConnector } from '../../subgraphs/agents/connect/demo.ts'
import * as agentsDemo from '../../subgraphs/agents/demo.ts'
import { provideDemoKnowledge } from '../../subgraphs/agents/knowledge/demo.ts'
import { provideDemoWorkflow } from '../../subgraphs/agents/workflow/demo.ts'
import * as identityDemo from '../../subgraphs/identity/setup/demo.ts'
import * as launcherDemo from '../../subgraphs/launcher/demo.ts'
import * as paymentsDemo from '../../subgraphs/payments/demo/demo.ts'
import { provideDemoTrade, type RunDocument } from '../../subgraphs/payments/demo/trade.ts'
import { provideDemoCard, provideDemoParties } from '../../subgraphs/payments/parties/demo.ts'
import * as providersDemo from '../../subgraphs/providers/demo/demo.ts'
import { processorKey } from '../../subgraphs/providers/demo/platform.ts'
import * as publishingDemo from '../../subgraphs/publishing/brand/demo.ts'
import { connectDemo } from '../../subgraphs/publishing/connection/demo.ts'
import { provideDemoMedia } from '../../subgraphs/publishing/media/demo.ts'
import { everyNetwork } from '../../subgraphs/publishing/network/networks.ts'
import { scopesOf } from '../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { Engine } from '../engine/engine.ts'
import type { Home } from './home.ts'
import type { TrialTokens } from './keys.ts'
import { type OpenSandbox, openSandbox } from './sandbox.ts'
import type { Configured } from './settings.ts'
import type { Process } from './startup.ts'

/** Facilities for trying the platform: the sandbox, and demo data in the database. */
export interface Demo {
  readonly accounts: readonly string[]
  readonly password: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  /** The sandbox's mail server. */
  readonly mailServer: OpenSandbox['mailServer']
  readonly mailing: OpenSandbox['mailing']
  /** The sandbox's settlement service. */
  readonly settlement: OpenSandbox['settlement']
  /** The sandbox's notification service. */
  readonly notificationService: OpenSandbox['notificationService']
  readonly eventsOfProcessor: OpenSandbox['processor']['webhookSecret']
  readonly eventsOfBilling: OpenSandbox['processor']['billingSecret']
  /** Whether our mails go there: no other mail server is configured. */
  readonly takesMails: boolean
  /** Our applications at the sandbox's networks. */
  readonly applications: Configured['applications']
  /** Addresses of the sandbox's networks. */
  readonly whereabouts: Configured['whereabouts']
  /** Sentences about anything unexpected; more are added when demo data is created. */
  readonly notices: readonly string[]
  /** Creates missing demo data, leaves existing data alone, and writes its ids for `npm run demo:ids`. */
  provide(home: Home): Promise<void>
  /**
   * Has the demo's orders come to every status, once `provide` has written them. It takes seconds, and nobody has to wait for them: a start
   * has it done when the door is open. Never throws; what failed is logged, and the next start tries again.
   * @param signal     ends it after the order that it is at
   * @param takesEvents whether the processor's events arrive at this process; else that of the dispute is fetched
   */
  trade(signal: AbortSignal, takesEvents: boolean): Promise<void>
}

/**
 * Opens the sandbox.
 * @param tokens  service tokens by app, for people who try the platform
 * @param gateway tokens for trying the gateway to providers
 * @param listening resolves when this process listens; a sandbox in it sends no events before
 */
export async function openDemo({ config, log, stack }: Process, tokens: AppTokens, gateway: TrialTokens | null, listening?: Promise<void>): Promise<Demo> {
  const { dataDir } = config
  const opened = await openSandbox(config, listening)
  stack.defer(opened.stop)
  const { origin: sandbox, applications, whereabouts, mailServer, mailing, processor, settlement, notificationService } = opened
  const notices = [...opened.moved]
  let trade: Demo['trade'] | null = null
  return {
    ...identityDemo.demoAccounts,
    sandbox,
    applications,
    whereabouts,
    mailServer,
    mailing,
    eventsOfProcessor: processor.webhookSecret,
    eventsOfBilling: processor.billingSecret,
    ...{ settlement, notificationService },
    takesMails: mailServer !== null && !config.mail.server,
    notices,
    trade: async (...given) => trade?.(...given),
    async provide({ engine, defined: { agents, identity, launcher, payments, providers, publishing }, outbound }) {
      const { organizationId, userId, memberId, otherId, adminId, apiKey } = await identityDemo.provideDemo(identity!, readDemoFile(dataDir)?.apiKey ?? null)
      const job = publishing!.job(`user:${userId}`)
      const { brandId, threadId, postIds } = await publishingDemo.provideDemo(job, { organizationId, userId })
      await provideDemoMedia(job, { brandId, userId })
      const paying = payments!.job(`user:${userId}`)
      const { byMark, ...ordered } = await paymentsDemo.provideDemo(paying, { organizationId, userId })
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
      const working = agents!.job(`user:${userId}`)
      await provideDemoKnowledge(working, { organizationId, userId })
      await provideDemoConnector(working, { organizationId, userId, sandbox })
        .then(connectorId => provideDemoWorkflow(working, { organizationId, userId, connectorId }))
        .catch(error => notices.push(`the demo has no connector, the sandbox's server of tools failed (${lineOf(error)}): the next start tries again`))
      await provideDemoAgent(working, { organizationId, userId })
      await launcherDemo
        .provideDemo(launcher!.job(`user:${userId}`), { organizationId, userId, memberId, otherId, adminId, sandbox, processorKey })
        .catch(error => notices.push(`the demo has no installed apps (${lineOf(error)}): the next start tries again`))
      writeDemoFile(dataDir, {
        organizationId,
        brandId,
        threadId,
        postIds,
        apiKey,
        payments: {
          ...{ ...ordered, ...parties, payees: processor.payees, webhookSecret: processor.webhookSecret },
          settlementToken: gateway?.SETTLEMENT_PAYMENTS_SERVICE_TOKEN ?? null,
          callbackSecret: settlement?.secret ?? null,
        },
        personProfileId,
        launcher: { apps: launcherDemo.widgetApps, webhookSecret: processor.billingSecret },
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
      trade = async (signal, takesEvents) => {
        const run = graphFor(engine!, { organizationId, userId })
        const place = { run, organizationId, customerId: parties.customerId, payees: processor.payees }
        for (const sentence of await provideDemoTrade(place, byMark, () => !signal.aborted)) log.warn(sentence)
        if (signal.aborted) return
        await payments!.at.services.underway.ended(tradeMs)
        if (!takesEvents) await handOverDispute(payments!, { sandbox, secret: processor.webhookSecret, orderId: byMark.get(paymentsDemo.disputedMark)! })
      }
    },
  }
}

/** How long transfers of the demo's batches are waited for, in ms: those that are left are made by payments itself. */
const tradeMs = 10_000

/** Maximum time in ms that the processor needs to open a dispute, and the interval in ms of asking it. */
const [disputedMs, askEveryMs] = [4_000, 250]

/** Hands payments the processor's event of the demo's dispute, which it has tried in vain to send. */
async function handOverDispute(
  payments: NonNullable<Home['defined']['payments']>,
  { sandbox, secret, orderId }: { readonly sandbox: string; readonly secret: string | null; readonly orderId: string },
): Promise<void> {
  const { orders, disputes } = payments.job('demo')
  const isExpected = (await orders.byId.load(orderId))?.status === 'PAID' && (await disputes.manyBy('orderId').load(orderId)).length === 0
  if (secret === null || !isExpected) return
  for (const end = performance.now() + disputedMs; performance.now() < end; await wait(askEveryMs)) {
    const headers = { authorization: `Bearer ${processorKey}` }
    const answer = await fetch(`${sandbox}/stripe/v1/events?type=charge.dispute.created`, { headers }).catch(() => null)
    const { data } = answer?.ok ? ((await answer.json()) as { data: readonly object[] }) : { data: [] }
    for (const event of data) {
      const [body, seconds] = [JSON.stringify(event), Math.floor(Date.now() / 1000)]
      const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
      const sent = { method: 'POST', headers: { 'stripe-signature': `t=${seconds},v1=${signature}` }, body }
      await payments.http!(new Request('http://payments/payments/api/webhooks/stripe', sent), anonymous)
    }
    if (data.length > 0) return
  }
}

/** Asks the graph as the demo's owner, or as the settlement service for the owner's organization. */
function graphFor(engine: Engine, { organizationId, userId }: { readonly organizationId: string; readonly userId: string }): RunDocument {
  const place = { ...anonymous, organizationId, context: 'organization' } as const
  const viewers = {
    owner: { ...place, kind: 'user', userId, roles: ['owner'], scopes: scopesOf(['owner']) },
    settlement: { ...place, kind: 'service', appId: 'app_settlement', onlyAt: 'payments', scopes: ['payments:settlements.write'] },
  } as const satisfies Record<string, Viewer>
  return async (text, variables, as) => {
    const { data, errors } = await engine.execute({ document: parse(text), variables: { ...variables }, viewer: viewers[as], requestId: newId() })
    if (errors?.length) throw errors[0]!
    return data
  }
}

/** Returns the token with the longest validity of each app. */
const firstOf = (tokens: AppTokens): Readonly<Record<string, string>> =>
  Object.fromEntries([...tokens].flatMap(([app, [token]]) => (token ? [[app, token]] : [])))
