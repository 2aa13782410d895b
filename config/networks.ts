import { z } from 'zod'
import type { Application, Platform, Protocol } from '../subgraphs/publishing/network/network.ts'
import { type Applications, everyNetwork, type NetworkPlaces, platforms } from '../subgraphs/publishing/network/networks.ts'
import { address, text } from './readers.ts'
import { type Family, readFamily, type Setting, type Start, setting, type Variables } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** The settings of each network whose protocol the platform speaks: what they are called and mean follows from the network's own folder. */
export const networkFamilies: readonly { readonly platform: Platform; readonly title: string; readonly family: Family }[] = platforms.flatMap(platform => {
  const { title, path, protocol } = everyNetwork[platform]
  if (!protocol) return []
  const { prefix, at, hasTrials, needs } = protocol
  const wanted = needs ? ` It needs ${needs}.` : ''
  const owner = at ? ` Uses the addresses of ${everyNetwork[at].title}.` : ''
  const family: Family = {
    clientId: setting(`${prefix}_CLIENT_ID`, text, {
      fallback: null,
      by: subgraphs,
      does: `Client id of your application. Callback: \`…/integrations/${path}/callback\`.${wanted}${owner}`,
    }),
    clientSecret: setting(`${prefix}_CLIENT_SECRET`, text, { fallback: null, by: subgraphs, does: 'Its secret.' }),
    ...(hasTrials && {
      trialClientId: setting(`${prefix}_SANDBOX_CLIENT_ID`, text, {
        fallback: null,
        by: subgraphs,
        does: `Your test application at ${title}, for staging only. Only its own account sees its posts.`,
      }),
      trialClientSecret: setting(`${prefix}_SANDBOX_CLIENT_SECRET`, text, { fallback: null, by: subgraphs, does: 'Its secret.' }),
    }),
    ...(at ? {} : whereaboutsOf(protocol)),
  }
  return [{ platform, title, family }]
})

function whereaboutsOf({ prefix, addresses, settings = {} }: Protocol): Family {
  const rows = Object.entries(addresses).map(([key, row]): [string, Setting<string>] => [
    key,
    setting(variable(prefix, key), address, { ...row, by: subgraphs }),
  ])
  const further = Object.entries(settings).map(([key, { fallback, does, pattern, means }]): [string, Setting<string>] => [
    key,
    setting(variable(prefix, key), z.string().regex(pattern, means), { fallback, does, by: subgraphs }),
  ])
  return Object.fromEntries([...rows, ...further])
}

/** `apiUrl` of X is `X_API_URL`. */
function variable(prefix: string, key: string): string {
  return `${prefix}_${key.replaceAll(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

/** The variables that name a network's application. */
export const credentialsOf = (platform: Platform): string => {
  const prefix = everyNetwork[platform].protocol?.prefix ?? platform
  return pair(prefix)
}

const pair = (prefix: string): string => `${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET`

/**
 * Reads our applications at networks; mistakes go into the list, a line each.
 * @param isStaging whether applications for trying count
 * @returns those that are whole, where each network is, and what is to be said of pairs that are half there
 */
export function readApplications(
  given: Variables,
  mistakes: string[],
  isStaging: boolean,
): { readonly applications: Applications; readonly whereabouts: NetworkPlaces; readonly halves: readonly string[] } {
  const applications: Partial<Record<Platform, Application>> = {}
  const whereabouts: Partial<Record<Platform, Readonly<Record<string, string>>>> = {}
  const halves: string[] = []
  /** A pair of credentials; nothing where neither is set, or where one is missing, which is told. */
  const paired = (prefix: string, clientId: string | null | undefined, clientSecret: string | null | undefined) => {
    if (clientId && clientSecret) return { clientId, clientSecret }
    if (clientId || clientSecret) halves.push(`${pair(prefix)}: one is set without the other; set both or none`)
    return null
  }
  for (const { platform, family } of networkFamilies) {
    const { clientId, clientSecret, trialClientId, trialClientSecret, ...own } = readFamily(family, given, mistakes) as Record<string, string | null>
    const { prefix, at } = everyNetwork[platform].protocol!
    const where = (at ? whereabouts[at] : own) as Readonly<Record<string, string>>
    whereabouts[platform] = where
    const whole = paired(prefix, clientId, clientSecret)
    const trial = isStaging ? paired(`${prefix}_SANDBOX`, trialClientId, trialClientSecret) : null
    if (trial) applications[platform] = { ...trial, ...where, kind: 'TRIAL' }
    else if (whole) applications[platform] = { ...whole, ...where }
  }
  return { applications, whereabouts, halves }
}
