import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Network } from '../network.ts'
import { createXFigures } from './figures.ts'
import { createXMedia } from './media.ts'
import { createXOauth, type XApplication } from './oauth.ts'
import { createXPublish } from './publish.ts'

/** Opens X's API at the configured addresses. */
export const open = (application: XApplication, outbound: WayOut): Network => ({
  platform: 'X',
  refusesDuplicates: true,
  ...createXOauth(application, outbound),
  ...createXMedia(application, outbound),
  ...createXPublish(application, outbound),
  ...createXFigures(application, outbound),
})
