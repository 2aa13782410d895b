import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Network } from '../network.ts'
import { createCalls } from './calls.ts'
import { createTiktokOauth, type TiktokApplication } from './oauth.ts'
import { createTiktokPublish } from './publish.ts'

/** Opens TikTok's API at the configured addresses. */
export function open(application: TiktokApplication, outbound: WayOut): Network {
  const calls = createCalls(application, outbound)
  return {
    platform: 'TIKTOK',
    refusesDuplicates: false,
    ...createTiktokOauth(application, calls, outbound),
    ...createTiktokPublish(application, calls, outbound),
  }
}
