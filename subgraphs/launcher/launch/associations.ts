import type { Ask } from '../../../platform/ask.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Viewer } from '../../viewer.ts'
import { NativeAppsDocument, type NativeAppsQuery } from '../ask.generated.ts'
import { registration } from '../registration.ts'
import { linkPath } from './rules.ts'

type Service = NonNullable<NonNullable<NativeAppsQuery['services']>[number]>

/** Pages of the dashboard that the launcher's own native apps open. */
const ownPages = ['/dashboard*', '/apps*', '/actions*', '/settings*']

const appsOf = ({ mobileApps }: Service, platform: 'IOS' | 'ANDROID') => mobileApps.filter(app => app.platform === platform)

/**
 * Returns what iOS reads to know which native app opens which link.
 * @param base path of the dashboard on its host: empty where it has one of its own
 */
export function appleAssociation(services: readonly Service[], base: string) {
  const details = services.flatMap(service => {
    const appIDs = appsOf(service, 'IOS').map(({ appId }) => appId)
    const paths = [linkPath(service.id), ...(service.slug === registration.slug ? ownPages : [])]
    return appIDs.length > 0 ? [{ appIDs, components: paths.map(path => ({ '/': `${base}${path}` })) }] : []
  })
  return { applinks: { details } }
}

/** Returns what Android reads to know which native apps may open links of a host. */
export const androidAssociation = (services: readonly Service[]) =>
  services.flatMap(service =>
    appsOf(service, 'ANDROID').map(({ appId, certificateFingerprints }) => ({
      relation: ['delegate_permission/common.handle_all_urls'],
      target: { namespace: 'android_app', package_name: appId, sha256_cert_fingerprints: certificateFingerprints },
    })),
  )

/** Lifetime in ms of what was read of the registry. */
const keptMs = 60_000

/** Returns a reader of the services that have native apps, which asks the registry once a minute at most. */
export function openNativeApps(ask: Ask, clock: Clock): (viewer: Viewer) => Promise<readonly Service[]> {
  let kept: { readonly services: Promise<readonly Service[]>; readonly at: number } | null = null
  return viewer => {
    const now = clock.now().getTime()
    // A clock that is set back must not extend the lifetime.
    if (kept && now >= kept.at && now < kept.at + keptMs) return kept.services
    const services = ask(NativeAppsDocument, {}, { appId: registration.appId, viewer }).then(found =>
      (found.services ?? []).filter(service => service !== null).filter(({ lifecycle }) => lifecycle !== 'RETIRED'),
    )
    const reading = { services, at: now }
    kept = reading
    services.catch(() => {
      if (kept === reading) kept = null
    })
    return services
  }
}
