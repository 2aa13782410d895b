import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type MailServer, readMailServer } from '../../platform/smtp/address.ts'
import { applicationAt, type Demos, type PlayedName, playedNames } from '../../sandbox/networks.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { connectedAccounts } from '../../sandbox/stripe/refunds.ts'
import type { Endpoints } from '../../sandbox/webhooks/endpoints.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { callbackUrl } from '../../subgraphs/publishing/connection/integration/rules.ts'
import { type Applications, everyNetwork, type NetworkPlaces, platforms } from '../../subgraphs/publishing/network/networks.ts'

/** The stand-ins that development speaks to. */
export interface OpenSandbox {
  readonly origin: string
  /** Our demo applications at the networks that it plays. */
  readonly applications: Applications
  /** Where every network is that it plays, for applications of which it is not told. */
  readonly whereabouts: NetworkPlaces
  /** Its mail server; null: it plays none. */
  readonly mailServer: MailServer | null
  /** Its server of DNS, and with what its mail server signs its reports to us; null: it plays none. */
  readonly mailing: { readonly dns: string | null; readonly eventsSecret: string | null }
  /** The accounts that its payment processor transfers to, and with what it signs events for payments; null: it does not say. */
  readonly processor: { readonly payees: readonly string[]; readonly webhookSecret: string | null }
  /** What of it listens elsewhere than configured, a sentence each. */
  readonly moved: readonly string[]
  stop(): Promise<void>
}

/**
 * Starts the sandbox within this process, or finds the one that runs as a process of its own.
 * @throws StartError when that one's facts are not in the configured folder
 */
export async function openSandbox({ dataDir, publicUrl, sandbox, email, environment }: Config): Promise<OpenSandbox> {
  const isStaging = environment === 'staging'
  if (sandbox.folder) return findSandbox(sandbox.folder, isStaging)
  const options = {
    folder: join(dataDir, 'sandbox'),
    redirectUris: playedPlatforms(true).map(platform => callbackUrl(publicUrl, platform)),
    smtpPort: sandbox.smtpPort,
    dnsPort: sandbox.dnsPort,
    endpoints: { 'stripe-payments': { url: eventsUrl(publicUrl) } },
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

/** The sandbox that runs as a process of its own. @throws StartError when its facts are not in the folder */
export const findSandbox = (folder: string, isStaging: boolean): OpenSandbox => toOpen(readFacts(folder), [], isStaging, async () => {})

const movedFrom = (wanted: number, port: number, what: string, setting: string): string | null =>
  wanted === 0 || port === wanted ? null : `port ${wanted} is taken: ${what} on ${port} (${setting})`

/** Where the sandbox's mail server reports what becomes of our mails. */
export const reportsUrl = (publicUrl: string): string => `${publicUrl}/providers/api/email/events`

/** Where the sandbox's payment processor tells payments what has happened. */
export const eventsUrl = (publicUrl: string): string => `${publicUrl}/payments/api/webhooks/stripe`

type Facts = { readonly origin: string; readonly endpoints?: Endpoints; readonly smtp?: string; readonly mailReports?: string; readonly dns?: string } & {
  readonly [Name in PlayedName]: Pick<Demos[Name], 'clientId' | 'clientSecret'>
}

/** The networks that are played: they go by their path. Those that give applications for trying are set up in staging alone, as they are with an operator's own. */
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
  processor: { payees: connectedAccounts, webhookSecret: endpoints?.['stripe-payments'].secret ?? null },
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
