import { type Slug, slugs } from '../subgraphs/scopes.ts'
import { hostNames } from './readers.ts'
import { type Setting, type Start, setting } from './setting.ts'

/** An address under which a service answers, and in which role. */
export interface ServiceOrigin {
  readonly slug: Slug
  readonly role: 'web' | 'api' | 'dashboard' | 'marketing'
  /** Scheme, host and port, as a browser writes an Origin: `https://publishing.example.com`. */
  readonly origin: string
  /** It stands for what is not named, in development: a name of this machine, which browsers find and programs may not. @default false */
  readonly isLocal?: boolean
}

interface HostList extends Pick<ServiceOrigin, 'slug' | 'role'> {
  readonly setting: Setting<readonly string[] | null>
  /** Names of this machine that hold in development. */
  readonly local: readonly string[]
}

// Identity trusts the pages, payments names its own: subgraphs read them as routers do.
const everything: readonly Start[] = ['all', 'router', 'subgraph']

const list = (slug: Slug, role: ServiceOrigin['role'], word: 'WEB' | 'API' | 'MARKETING', local: readonly string[], does: string): HostList => ({
  slug,
  role,
  local,
  setting: setting(`${slug.toUpperCase()}_${word}_HOST`, hostNames, {
    fallback: null,
    without: `${local.map(name => `\`${name}\``).join(', ')} in development`,
    by: everything,
    does,
  }),
})

const lists: readonly HostList[] = [
  ...slugs.flatMap(slug => {
    const own = `${slug}.localhost`
    const pages = slug === 'publishing' ? [own, 'web.publishing.localhost'] : [own]
    const shown = slug === 'launcher' ? 'the dashboard' : `${slug} pages`
    return [
      list(slug, slug === 'launcher' ? 'dashboard' : 'web', 'WEB', pages, `Hosts for browsers: ${shown}.`),
      list(slug, 'api', 'API', [own], `Hosts for programs: ${slug} routes without prefix.`),
    ]
  }),
  list('launcher', 'marketing', 'MARKETING', ['marketing.launcher.localhost'], 'Hosts of the marketing site.'),
]

/** The lists of hosts, one of each service and role, by their variables. */
export const hosts: Readonly<Record<string, Setting<readonly string[] | null>>> = Object.fromEntries(lists.map(({ setting }) => [setting.name, setting]))

/** The addresses of development: `<slug>.localhost` is both web and API of a service, with two pure web origins beside it. */
export const localOrigins = (publicUrl: string): readonly ServiceOrigin[] => serviceOrigins({}, publicUrl, true)

/**
 * The addresses that the lists come to. Scheme and, where a name has none of its own, port are those of the platform itself.
 * @param named by variable
 * @param developing whether names of this machine stand for what is not named
 */
export function serviceOrigins(named: Readonly<Record<string, readonly string[] | null>>, publicUrl: string, developing: boolean): readonly ServiceOrigin[] {
  const { protocol, port } = new URL(publicUrl)
  return lists.flatMap(({ slug, role, setting: { name }, local }) =>
    (named[name] ?? (developing ? local : [])).map(host => ({
      slug,
      role,
      ...(!named[name] && { isLocal: true }),
      origin: new URL(`${protocol}//${host}${host.includes(':') || port === '' ? '' : `:${port}`}`).origin,
    })),
  )
}

/** What is wrong with the lists as a whole, a sentence each: a host is one service's, and never that of the platform itself. */
export function hostMistakes(named: Readonly<Record<string, readonly string[] | null>>, publicUrl: string): readonly string[] {
  const owners = new Map<string, HostList>()
  return lists.flatMap(each =>
    (named[each.setting.name] ?? []).flatMap(written => {
      const host = written.replace(/:\d+$/, '')
      const owner = owners.get(host) ?? each
      owners.set(host, owner)
      if (host === new URL(publicUrl).hostname)
        return [`${each.setting.name}: ${host} is the host of PUBLIC_URL, where every service has its prefix: give ${each.slug} another name, or leave it out`]
      return owner.slug === each.slug ? [] : [`${each.setting.name}: ${host} is named by ${owner.setting.name} too: a host belongs to one service`]
    }),
  )
}
