import { parseArgs } from 'node:util'
import { startSandbox } from './server.ts'
import { type EndpointName, type EndpointOptions, endpointNames } from './webhooks/endpoints.ts'

// The sandbox as a process of its own: prints its origin as one line, and stops on TERM, Ctrl-C, or with who started it.
const usage =
  'usage: node sandbox/main.ts --folder FOLDER --port PORT [--smtp-port PORT] [--dns-port PORT] [--mail-reports URL] [--endpoint NAME=URL]… [--redirect-uri URI]… [--with-parent PID]'

interface Arguments {
  readonly folder: string
  readonly port: number
  readonly smtpPort: number | undefined
  readonly dnsPort: number | undefined
  /** Address to which the mail server reports bounces and deliveries of mails. */
  readonly mailReports: string | undefined
  /** Addresses to which stand-ins send webhooks. */
  readonly endpoints: EndpointOptions
  readonly redirectUris: string[] | undefined
  readonly withParent: number | null
}

function readEndpoint(given: string): readonly [EndpointName, { readonly url: string }] {
  const [, found, url] = /^([a-z-]+)=(.+)$/.exec(given) ?? []
  const name = endpointNames.find(each => each === found)
  if (!name || !URL.canParse(url!)) throw new Error(`--endpoint ${given}: expected NAME=URL, with one of ${endpointNames.join(', ')}`)
  return [name, { url: url! }]
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      folder: { type: 'string' },
      port: { type: 'string' },
      'smtp-port': { type: 'string' },
      'dns-port': { type: 'string' },
      'mail-reports': { type: 'string' },
      endpoint: { type: 'string', multiple: true },
      'redirect-uri': { type: 'string', multiple: true },
      'with-parent': { type: 'string' },
    },
  })
  const isPort = (given: string | undefined) => given !== undefined && /^\d{1,5}$/.test(given) && Number(given) <= 65_535
  const [smtpPort, dnsPort] = [values['smtp-port'], values['dns-port']]
  if (!values.folder || !isPort(values.port) || [smtpPort, dnsPort].some(each => each !== undefined && !isPort(each)))
    throw new Error('a folder and a port from 0 to 65535 are needed')
  return {
    folder: values.folder,
    port: Number(values.port),
    smtpPort: smtpPort === undefined ? undefined : Number(smtpPort),
    dnsPort: dnsPort === undefined ? undefined : Number(dnsPort),
    mailReports: values['mail-reports'],
    endpoints: Object.fromEntries((values.endpoint ?? []).map(readEndpoint)),
    redirectUris: values['redirect-uri'],
    withParent: values['with-parent'] === undefined ? null : Number(values['with-parent']),
  }
}

try {
  const { folder, port, smtpPort, dnsPort, mailReports, endpoints, redirectUris, withParent } = readArguments()
  const log = { info: () => {}, error: (facts: object, message: string) => console.error(message, facts) }
  const sandbox = await startSandbox({
    folder,
    port,
    log,
    endpoints,
    ...(redirectUris && { redirectUris }),
    ...(smtpPort !== undefined && { smtpPort }),
    ...(dnsPort !== undefined && { dnsPort }),
    ...(mailReports !== undefined && { mailReports: { url: mailReports } }),
  })
  console.log(sandbox.origin)
  // The parent process may have ended before its id could be read.
  if (withParent !== null) setInterval(() => process.ppid !== withParent && void sandbox.stop(), 300).unref()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.stop())
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
  process.exitCode = 1
}
