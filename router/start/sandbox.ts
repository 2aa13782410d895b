import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type MailServer, readMailServer } from '../../platform/smtp/address.ts'
import { applicationAt, type Demos, type PlayedName, playedNames } from '../../sandbox/networks.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { connectedAccounts } from '../../sandbox/stripe/refunds.ts'
import type { EndpointName, Endpoints } from '../../sandbox/webhooks/endpoints.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { callbackUrl } from '../../subgraphs/publishing/connection/integration/rules.ts'
import { type Applications, everyNetwork, type NetworkPlaces, platforms } from '../../subgraphs/publishing/network/networks.ts'

/** The sandbox of third parties that development uses. */
export interface OpenSandbox {
  readonly origin: string
  /** Our demo applications at the sandbox's networks. */
  readonly applications: Applications
  /** Addresses of all networks that the sandbox plays, for applications that it does not know. */
  readonly whereabouts: NetworkPlaces
  /** The sandbox's mail server; null if it plays none. */
  readonly mailServer: MailServer | null
  /** The sandbox's DNS server, and the secret by which its mail server signs reports to us; null if it plays none. */
  readonly mailing: { readonly dns: string | null; readonly eventsSecret: string | null }
  /**
   * Accounts that the sandbox's payment processor transfers to, and the secrets by which it signs events for payments and
   * for the launcher; null if unknown.
   */
  readonly processor: { readonly payees: readonly string[]; readonly webhookSecret: string | null; readonly billingSecret: string | null }
  /**
   * Address at which the sandbox's settlement service receives callbacks on batches, and the secret that signs them;
   * null if unknown.
   */
  readonly settlement: {
    readonly url: string
    readonly secret: string
    /** Address at which it decides on actions across organizations, and the secret that signs the requests. */
    readonly policy: { readonly url: string; readonly secret: string }
  } | null
  /** The sandbox's notification service; null if unknown. */
  readonly notificationService: { readonly url: string; readonly secrets: readonly string[] } | null
  /** Sentences about parts that listen elsewhere than configured. */
  readonly moved: readonly string[]
  stop(): Promise<void>
}

/**
 * Starts the sandbox in this process, or finds the one that runs as a separate process.
 * @param listening resolves when the platform listens; a sandbox in this process sends it no events before
 * @throws StartError when the facts about that process are not in the configured folder
 */
export async function openSandbox(config: Config, listening?: Promise<void>): Promise<OpenSandbox> {
  const { dataDir, publicUrl, sandbox, email, environment, paymentsEvents, billing, paymentsSettlement, agentsNeighbours, notifications } = config
  const isStaging = environment === 'staging'
  const urls = endpointUrls(publicUrl)
  if (sandbox.folder) return findSandbox(sandbox.folder, isStaging)
  const options = {
    folder: join(dataDir, 'sandbox'),
    redirectUris: playedPlatforms(true).map(platform => callbackUrl(publicUrl, platform)),
    smtpPort: sandbox.smtpPort,
    dnsPort: sandbox.dnsPort,
    ...(listening && { listening }),
    endpoints: {
      'stripe-payments': { url: urls['stripe-payments'], secret: paymentsEvents.stripe?.[0] },
      'stripe-launcher': { url: urls['stripe-launcher'], secret: billing.stripe?.[0] },
      'settlement-callbacks': { secret: paymentsSettlement.secrets?.[0] },
      apps: { url: urls.apps },
      notifications: { url: urls.notifications, secret: notifications.serviceSecrets?.[0] },
      'settlement-policy': { secret: agentsNeighbours.settlementSecrets?.[0] },
    },
    mailReports: { url: reportsUrl(publicUrl), ...(email.eventsSecret && { secret: email.eventsSecret }) },
  }
  const started = await startSandbox({ ...options, port: sandbox.port }).catch(error => {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') return startSandbox({ ...options, port: 0 })
    if (syscall === 'listen') throw new StartError(`SANDBOX_PORT: ${sandbox.port} cannot be listened on (${code}): name another port, or set DEMO=0`, error)
    throw new StartError(`the sandbox cannot go on with ${options.folder} (${lineOf(error)}): remove that, and its networks begin anew`, error)
  })
  const moved = [
    movedFrom(sandbox.port, started.port, 'the sandbox listens', 'SANDBOX_PORT'),
    movedFrom(sandbox.smtpPort, started.mail!.port, "the sandbox's mail server listens", 'SANDBOX_SMTP_PORT'),
    movedFrom(sandbox.dnsPort, started.dns!.port, "the sandbox's server of DNS listens", 'SANDBOX_DNS_PORT'),
  ].filter(each => each !== null)
  return toOpen(
    {
      origin: started.origin,
      smtp: started.mail!.url,
      mailReports: started.mail!.reportSecret,
      dns: started.dns!.address,
      endpoints: started.endpoints,
      ...started.demo,
    },
    moved,
    isStaging,
    started.stop,
  )
}

/** Finds the sandbox that runs as a separate process. @throws StartError when its facts are not in the folder */
export const findSandbox = (folder: string, isStaging: boolean): OpenSandbox => toOpen(readFacts(folder), [], isStaging, async () => {})

const movedFrom = (wanted: number, port: number, what: string, setting: string): string | null =>
  wanted === 0 || port === wanted ? null : `port ${wanted} is taken: ${what} on ${port} (${setting})`

/** Address at which the sandbox's mail server reports deliveries of our mails. */
export const reportsUrl = (publicUrl: string): string => `${publicUrl}/providers/api/email/events`

/** Addresses to which the sandbox's stand-ins send webhooks, however the sandbox is started. */
export const endpointUrls = (publicUrl: string) =>
  ({
    'stripe-payments': `${publicUrl}/payments/api/webhooks/stripe`,
    'stripe-launcher': `${publicUrl}/launcher/api/webhooks/subscriptions`,
    // Where apps find the launcher's keys, too.
    apps: `${publicUrl}/launcher/api/widgets`,
    notifications: `${publicUrl}/launcher/api/notifications/events`,
  }) as const satisfies Partial<Record<EndpointName, string>>

type Facts = { readonly origin: string; readonly endpoints?: Endpoints; readonly smtp?: string; readonly mailReports?: string; readonly dns?: string } & {
  readonly [Name in PlayedName]: Pick<Demos[Name], 'clientId' | 'clientSecret'>
}

/**
 * Returns the networks that the sandbox plays, by their path. Networks with trial applications are only set up in
 * staging, as they would be with an operator's own application.
 */
export const playedPlatforms = (isStaging: boolean) =>
  platforms.filter(platform => {
    const { path, protocol } = everyNetwork[platform]
    return protocol && (playedNames as readonly string[]).includes(path) && (isStaging || !protocol.hasTrials)
  })

const toOpen = (
  { origin, smtp, mailReports, dns, endpoints, ...demos }: Facts,
  moved: readonly string[],
  isStaging: boolean,
  stop: () => Promise<void>,
): OpenSandbox => ({
  origin,
  mailServer: smtp === undefined ? null : readMailServer(smtp),
  mailing: { dns: dns ?? null, eventsSecret: mailReports ?? null },
  processor: {
    payees: connectedAccounts,
    webhookSecret: endpoints?.['stripe-payments'].secret ?? null,
    billingSecret: endpoints?.['stripe-launcher'].secret ?? null,
  },
  settlement: endpoints
    ? {
        ...{ url: `${origin}/settlement/callbacks`, secret: endpoints['settlement-callbacks'].secret },
        policy: { url: `${origin}/settlement`, secret: endpoints['settlement-policy'].secret },
      }
    : null,
  notificationService: endpoints ? { url: `${origin}/notifications`, secrets: [endpoints.notifications.secret] } : null,
  moved,
  applications: Object.fromEntries(
    playedPlatforms(isStaging).map(platform => {
      const name = everyNetwork[platform].path as PlayedName
      return [platform, applicationAt(origin, name, demos[name])]
    }),
  ),
  whereabouts: Object.fromEntries(
    playedPlatforms(true).map(platform => {
      const { clientId: _, clientSecret: __, ...where } = applicationAt(origin, everyNetwork[platform].path as PlayedName, { clientId: '', clientSecret: '' })
      return [platform, where]
    }),
  ),
  stop,
})

function readFacts(folder: string): Facts {
  try {
    return JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as Facts
  } catch (error) {
    throw new StartError(`SANDBOX_DIR: no sandbox runs on ${folder}: start one with node sandbox/main.ts --folder ${folder} --port 4100`, error)
  }
}
