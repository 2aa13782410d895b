import { networkInterfaces } from 'node:os'
import { credentialsOf, networkFamilies } from '../../../config/networks.ts'
import { type Config, isLoopback } from '../../../config.ts'

type Addressed = Pick<Config, 'host' | 'port' | 'publicUrl' | 'environment' | 'demo' | 'applications' | 'mail'>

/**
 * Describes what a start did differently from one on a developer's own machine: from where it can be reached, whether
 * there are demo accounts and why, and that nothing can be published.
 * @param interfaces addresses of this machine @default the system's
 */
export function noticesOf(config: Addressed, interfaces: readonly string[] = ownAddresses()): readonly string[] {
  const { host, port, publicUrl, environment, demo, mail } = config
  const notices: string[] = []
  const open = !isLoopback(host)
  const name = (address: string) => `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  if (open) {
    const everywhere = host === '0.0.0.0' || host === '::'
    const shown = everywhere ? interfaces.filter(address => host === '::' || !address.includes(':')).slice(0, mostShown) : [host]
    notices.push(
      `HOST=${host}: other machines reach it${shown.length > 0 ? ` at ${shown.map(name).join(', ')}` : ''}; links and tokens name PUBLIC_URL, ${publicUrl}`,
    )
  }
  const reachable = open ? `HOST=${host}` : isLoopback(new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')) ? null : `PUBLIC_URL=${publicUrl}`
  if (demo && reachable) notices.push(`DEMO=1: accounts whose password everybody knows can be reached by others (${reachable})`)
  if (!demo && environment === 'development')
    notices.push(`no demo accounts and no sandbox: ${reachable ? `others can reach it (${reachable}); DEMO=1 makes them all the same` : 'DEMO=0'}`)
  if (!demo && !mail.server) notices.push('no mail leaves: nobody can be invited, and no password be reset; set SMTP_URL')
  if (!demo) notices.push(...missingNetworks(config))
  return notices
}

/**
 * Names in one sentence the networks that cannot be published to without an application of the operator's own; with
 * demo accounts the sandbox stands in.
 */
export function missingNetworks({ applications }: Pick<Config, 'applications'>): readonly string[] {
  const missing = networkFamilies.filter(({ platform }) => !applications[platform])
  if (missing.length === 0) return []
  const named = missing.map(({ platform, title }) => `${title} (${credentialsOf(platform)})`).join(', ')
  return [`not set up: ${named}; unless the gateway to providers keeps an application for it, no account there can be connected, and posts for it stay drafts`]
}

const mostShown = 4

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(each => (each ?? []).filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address))
}
