import type { Slug } from '../../subgraphs/scopes.ts'
import type { MobileApp } from '../../subgraphs/subgraph.ts'
import { address, fingerprints, text } from '../readers.ts'
import { type Setting, type Start, setting } from '../setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** Services that people open. */
const services = ['launcher', 'publishing', 'agents', 'payments', 'providers'] as const satisfies readonly Slug[]

const ofPlatform = { ios: ['IOS_APP_ID', 'IOS_STORE_URL'], android: ['ANDROID_PACKAGE', 'ANDROID_STORE_URL', 'ANDROID_FINGERPRINTS'] } as const

const nameOf = (slug: Slug, name: string): string => `${slug.toUpperCase()}_${name}`
const inDemo = { fallback: null, without: 'none; an example in the demo', by: subgraphs } as const

const settingsOf = (slug: Slug): readonly Setting<string | readonly string[] | null>[] => [
  setting(nameOf(slug, 'IOS_APP_ID'), text, { ...inDemo, does: `Native app of ${slug} for iOS, by team and bundle: \`TEAM123456.com.example.app\`.` }),
  setting(nameOf(slug, 'IOS_STORE_URL'), address, { ...inDemo, does: 'Its address in the store.' }),
  setting(nameOf(slug, 'ANDROID_PACKAGE'), text, { ...inDemo, does: `Native app of ${slug} for Android, by package: \`com.example.app\`.` }),
  setting(nameOf(slug, 'ANDROID_STORE_URL'), address, { ...inDemo, does: 'Its address in the store.' }),
  setting(nameOf(slug, 'ANDROID_FINGERPRINTS'), fingerprints, {
    ...inDemo,
    does: 'SHA-256 of the certificates that it is signed with, comma-separated, each as hexadecimal pairs with colons between. Required with the package.',
  }),
]

/** Native apps of the services, by their variables. */
export const mobileBuilds: Readonly<Record<string, Setting<string | readonly string[] | null>>> = Object.fromEntries(
  services.flatMap(settingsOf).map(each => [each.name, each]),
)

type Read = Readonly<Record<string, string | readonly string[] | null>>

/** Native apps by service; services without any are missing. */
export type MobileBuilds = { readonly [S in Slug]?: readonly MobileApp[] }

/** Returns what is wrong with the settings as a whole, a sentence each. */
export const mobileMistakes = (read: Read): readonly string[] =>
  services.flatMap(slug =>
    Object.values(ofPlatform).flatMap(([app, ...others]) => {
      const isThere = read[nameOf(slug, app)] !== null
      const lone = others.filter(name => !isThere && read[nameOf(slug, name)] !== null)
      const isUnsigned = isThere && app === 'ANDROID_PACKAGE' && read[nameOf(slug, 'ANDROID_FINGERPRINTS')] === null
      return [
        ...lone.map(name => `${nameOf(slug, name)}: says nothing without ${nameOf(slug, app)}: set both, or leave it out`),
        ...(isUnsigned ? [`${nameOf(slug, 'ANDROID_FINGERPRINTS')}: missing: Android opens links in ${nameOf(slug, app)} by them alone`] : []),
      ]
    }),
  )

function buildsOf(read: Read, slug: Slug): readonly MobileApp[] {
  const at = (name: string) => read[nameOf(slug, name)] ?? null
  const app = (platform: MobileApp['platform'], appId: unknown, storeUrl: unknown, list: unknown) =>
    typeof appId === 'string' ? [{ platform, appId, storeUrl: storeUrl as string | null, certificateFingerprints: (list ?? []) as readonly string[] }] : []
  return [
    ...app('ios', at('IOS_APP_ID'), at('IOS_STORE_URL'), null),
    ...app('android', at('ANDROID_PACKAGE'), at('ANDROID_STORE_URL'), at('ANDROID_FINGERPRINTS')),
  ]
}

/** A certificate that nothing is signed with. */
const exampleFingerprint = Array.from({ length: 32 }, (_, at) => at.toString(16).padStart(2, '0').toUpperCase()).join(':')
const example = (slug: Slug, platform: MobileApp['platform']): MobileApp => ({
  ...{ platform, appId: `${platform === 'ios' ? 'EXAMPLE123.' : ''}com.example.${slug}`, storeUrl: `https://store.example/${platform}/${slug}` },
  certificateFingerprints: platform === 'android' ? [exampleFingerprint] : [],
})
const examples: MobileBuilds = {
  launcher: [example('launcher', 'ios'), example('launcher', 'android')],
  publishing: [example('publishing', 'ios'), example('publishing', 'android')],
  agents: [example('agents', 'android')],
}

/** Returns the native apps of the services. @param isDemo whether there are examples where nothing is set */
export function mobileBuildsOf(read: Read, isDemo: boolean): MobileBuilds {
  const set = services.map(slug => [slug, buildsOf(read, slug)] as const).filter(([, apps]) => apps.length > 0)
  return set.length === 0 && isDemo ? examples : Object.fromEntries(set)
}
