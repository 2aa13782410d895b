import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import type { Network } from '../network.ts'
import { createXOauth, type XApplication } from './oauth.ts'
import { createXPublish } from './publish.ts'
import { objection } from './text.ts'

/** X's protocol at the configured addresses. */
export const open = (application: XApplication, outbound: Outbound): Network => ({
  platform: 'X',
  refusesDuplicates: true,
  objection,
  ...createXOauth(application, outbound),
  ...createXPublish(application, outbound),
})
