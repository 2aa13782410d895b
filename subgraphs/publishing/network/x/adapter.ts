import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import type { Network } from '../network.ts'
import { createXOauth, type XApplication } from './oauth.ts'
import { createXPublish } from './publish.ts'

/** X's protocol at the configured addresses. */
export const open = (application: XApplication, outbound: Outbound): Network => ({
  platform: 'X',
  refusesDuplicates: true,
  ...createXOauth(application, outbound),
  ...createXPublish(application, outbound),
})
