import type { Outbound } from '../../../../platform/outbound.ts'
import type { Network } from '../network.ts'
import { createXOauth, type XSettings } from './oauth.ts'
import { createXPublish } from './publish.ts'
import { objection } from './text.ts'

/** X's protocol at the configured addresses. */
export const createX = (settings: XSettings, outbound: Outbound): Network => ({
  platform: 'X',
  refusesDuplicates: true,
  objection,
  ...createXOauth(settings, outbound),
  ...createXPublish(settings, outbound),
})
