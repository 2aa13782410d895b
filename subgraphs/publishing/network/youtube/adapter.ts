import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Gateway, Network } from '../network.ts'
import { createCalls } from './calls.ts'
import { createYoutubeFigures } from './figures.ts'
import { createYoutubeOauth, type YoutubeApplication } from './oauth.ts'
import { createYoutubePublish } from './publish.ts'

/** Opens YouTube's API: Google's authorization at the configured addresses, and all other calls through the gateway. */
export function open(application: YoutubeApplication, outbound: WayOut, gateway: Gateway | null): Network {
  if (!gateway) throw new Error('YouTube is asked by way of the gateway to providers, and there is no way there')
  const calls = createCalls(gateway)
  return {
    platform: 'YOUTUBE',
    refusesDuplicates: false,
    ...createYoutubeOauth(application, calls, outbound),
    ...createYoutubePublish(calls),
    ...createYoutubeFigures(calls),
  }
}
