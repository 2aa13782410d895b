import type { Application, Platform } from '../subgraphs/publishing/network/network.ts'
import { type Applications, everyNetwork, platforms } from '../subgraphs/publishing/network/networks.ts'
import { address, text } from './readers.ts'
import { type Family, readFamily, type Setting, type Start, setting, type Variables } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** The settings of each network whose protocol the platform speaks: what they are called and mean follows from the network's own folder. */
export const networkFamilies: readonly { readonly platform: Platform; readonly title: string; readonly family: Family }[] = platforms.flatMap(platform => {
  const { title, path, protocol } = everyNetwork[platform]
  if (!protocol) return []
  const addresses = Object.entries(protocol.addresses).map(([key, row]): [string, Setting<string>] => [
    key,
    setting(variable(protocol.prefix, key), address, { ...row, by: subgraphs }),
  ])
  const family: Family = {
    clientId: setting(`${protocol.prefix}_CLIENT_ID`, text, {
      fallback: null,
      by: subgraphs,
      does: `Your application at ${title}. Without one a start outside the demo says that ${title} is not set up. Its callback address is \`$PUBLIC_URL/publishing/api/integrations/${path}/callback\`.`,
    }),
    clientSecret: setting(`${protocol.prefix}_CLIENT_SECRET`, text, { fallback: null, by: subgraphs, does: 'Its secret: both are set, or none.' }),
    ...Object.fromEntries(addresses),
  }
  return [{ platform, title, family }]
})

/** `apiUrl` of X is `X_API_URL`. */
function variable(prefix: string, key: string): string {
  return `${prefix}_${key.replaceAll(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

/** The variables that name a network's application. */
export const credentialsOf = (platform: Platform): string => {
  const prefix = everyNetwork[platform].protocol?.prefix ?? platform
  return `${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET`
}

/**
 * Reads our applications at networks; mistakes go into the list, a line each.
 * @returns those that are whole, and what is to be said of those that are half there
 */
export function readApplications(given: Variables, mistakes: string[]): { readonly applications: Applications; readonly halves: readonly string[] } {
  const read = networkFamilies.map(({ platform, family }) => ({ platform, values: readFamily(family, given, mistakes) as Application }))
  const whole = read.filter(({ values }) => values.clientId && values.clientSecret)
  const half = read.filter(({ values }) => Boolean(values.clientId) !== Boolean(values.clientSecret))
  return {
    applications: Object.fromEntries(whole.map(({ platform, values }) => [platform, values])),
    halves: half.map(({ platform }) => `${credentialsOf(platform)}: one is set without the other; set both or none`),
  }
}
