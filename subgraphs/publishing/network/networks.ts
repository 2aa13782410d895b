import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { Adapter, Application, NetworkFacts, Networks, Platform } from './network.ts'
import { x } from './x/x.ts'

/** Every network that posts are written for. */
export const everyNetwork: Readonly<Record<Platform, NetworkFacts>> = {
  X: x,
  LINKEDIN: { title: 'LinkedIn (person)', path: 'linkedin', targets: [], protocol: null },
  LINKEDIN_PAGE: { title: 'LinkedIn (company page)', path: 'linkedin-page', targets: ['ORGANIZATION'], protocol: null },
  FACEBOOK: { title: 'Facebook', path: 'facebook', targets: ['PAGE', 'GROUP'], protocol: null },
  INSTAGRAM: { title: 'Instagram', path: 'instagram', targets: ['PHOTO_ACCOUNT'], protocol: null },
  THREADS: { title: 'Threads', path: 'threads', targets: ['THREAD_ACCOUNT'], protocol: null },
  YOUTUBE: { title: 'YouTube', path: 'youtube', targets: [], protocol: null },
  TIKTOK: { title: 'TikTok', path: 'tiktok', targets: [], protocol: null },
}

export const platforms = Object.keys(everyNetwork) as readonly Platform[]

/** Our applications by network; none where nobody set one up. */
export type Applications = Readonly<Partial<Record<Platform, Application>>>

/** Why a network without an adapter cannot be used here, and who can change it. */
export const whyAbsent = (platform: Platform): string =>
  everyNetwork[platform].protocol
    ? 'no application is set up for it. Whoever operates the platform sets the credentials of its own application.'
    : 'the platform does not speak its protocol yet.'

/** Loads the adapters of every network whose protocol the platform speaks. */
export async function loadAdapters(): Promise<ReadonlyMap<Platform, Adapter>> {
  const loaded = await Promise.all(platforms.map(async platform => [platform, await everyNetwork[platform].protocol?.load()] as const))
  return new Map(loaded.flatMap(([platform, adapter]) => (adapter ? [[platform, adapter] as const] : [])))
}

/** The networks at which an application is set up, ready to be spoken to. */
export const openNetworks = (adapters: ReadonlyMap<Platform, Adapter>, applications: Applications, outbound: Outbound): Networks =>
  new Map(
    [...adapters].flatMap(([platform, adapter]) => {
      const application = applications[platform]
      return application ? [[platform, adapter.open(application, outbound)] as const] : []
    }),
  )
