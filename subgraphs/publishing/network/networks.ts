import { facebook } from './facebook/facebook.ts'
import { instagram } from './instagram/instagram.ts'
import { linkedin } from './linkedin/linkedin.ts'
import { linkedinPage } from './linkedin/page.ts'
import type { Adapter, Application, NetworkFacts, Platform } from './network.ts'
import { threads } from './threads/threads.ts'
import { tiktok } from './tiktok/tiktok.ts'
import { x } from './x/x.ts'
import { youtube } from './youtube/youtube.ts'

/** Facts about every network for which posts can be written. */
export const everyNetwork: Readonly<Record<Platform, NetworkFacts>> = {
  X: x,
  LINKEDIN: linkedin,
  LINKEDIN_PAGE: linkedinPage,
  FACEBOOK: facebook,
  INSTAGRAM: instagram,
  THREADS: threads,
  YOUTUBE: youtube,
  TIKTOK: tiktok,
}

export const platforms = Object.keys(everyNetwork) as readonly Platform[]

/** Our applications by network; absent where no operator has set one up. */
export type Applications = Readonly<Partial<Record<Platform, Application>>>

/** Addresses and further adapter settings of networks: applications without credentials. */
export type NetworkPlaces = Readonly<Partial<Record<Platform, Readonly<Record<string, string>>>>>

/** Returns why a network without an adapter cannot be used here, and who can change it. */
export const whyAbsent = (platform: Platform): string =>
  everyNetwork[platform].protocol
    ? 'no application is set up for it. The operator has to set the credentials of one.'
    : 'the platform does not speak its protocol yet.'

/** Loads the adapters of every network whose protocol is implemented. */
export async function loadAdapters(): Promise<ReadonlyMap<Platform, Adapter>> {
  const loaded = await Promise.all(platforms.map(async platform => [platform, await everyNetwork[platform].protocol?.load()] as const))
  return new Map(loaded.flatMap(([platform, adapter]) => (adapter ? [[platform, adapter] as const] : [])))
}
