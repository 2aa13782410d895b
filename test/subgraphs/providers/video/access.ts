import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, row, services, unrelated, widgets } from '../../../access/row.ts'

const usage: readonly Scope[] = ['providers:usage.read']
const invoke: readonly Scope[] = ['providers:service.invoke']
/** Keys and people that have the scope are refused all the same: it takes a service whose client has the operation. */
const servicesAlone = 'refused refused refused refused refused refused refused'

export const access: AccessRows = {
  fields: [
    row('Query.videoQuota', usage, widgets, byScopeEachTheirOwn, constant('{ videoQuota { name } }'), 'videoQuota'),
    row('VideoQuotaBucket.apps', usage, widgets, byScopeEachTheirOwn, constant('{ videoQuota { apps { appId } } }'), 'videoQuota'),
    row(
      'Mutation.setVideoQuota',
      all,
      unrelated,
      services,
      change('setVideoQuota', () => 'bucket: "default", organizationId: "01a40051-6a80-7363-88e5-97f23c40c98e", dailyLimit: 1', 'name'),
      'setVideoQuota',
    ),
  ],
  routes: [
    { at: 'GET /providers/api/video/quota', scopes: usage, less: widgets, cells: byScopeEachTheirOwn, path: () => '/providers/api/video/quota' },
    { at: '* /providers/platform/youtube/*', scopes: invoke, less: usage, cells: servicesAlone, path: () => '/providers/platform/youtube/youtube/v3/videos' },
    {
      at: 'GET /providers/api/internal/network-applications/:platform',
      scopes: invoke,
      less: usage,
      cells: servicesAlone,
      path: () => '/providers/api/internal/network-applications/x',
    },
  ],
}
