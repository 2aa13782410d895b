import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, type Fresh, people, row } from '../../../../access/row.ts'
import { seedRecovery } from './seed.ts'

const read: readonly Scope[] = ['launcher:launcher.read']
const unrelated: readonly Scope[] = ['launcher:widgets.read']
//                                     anonymous key     other   viewer  member  owner  outsider
const managersAlone /*            */ = 'refused refused refused refused refused yes    yes'

/** What rows of identity change of the recovery addresses holds up no onboarding. */
const verified: Fresh = async ({ graph, owner, outsider }) => {
  for (const viewer of [owner, outsider]) await seedRecovery(graph, viewer)
  return ''
}

const api = '/launcher/api'
export const access: AccessRows = {
  async made({ graph }) {
    return { dashboard: (await graph.execute('{ service(slug: "launcher") { id } }')).data().service.id }
  },
  fields: [
    row('Query.workspace', read, unrelated, byScopeEachTheirOwn, constant('{ workspace { context } }'), 'workspace'),
    row('Query.onboarding', all, read, people, constant('{ onboarding { state } }'), 'onboarding'),
    row(
      'Mutation.completeServiceOnboarding',
      all,
      read,
      managersAlone,
      change('completeServiceOnboarding', ({ dashboard }) => `serviceId: "${dashboard}"`, 'state'),
      'completeServiceOnboarding',
      verified,
    ),
    row('Workspace.onboarding', all, unrelated, people, constant('{ workspace { onboarding { state } } }'), 'workspace.onboarding'),
    row('Workspace.service', read, unrelated, byScopeEachTheirOwn, constant('{ workspace { service { id } } }'), 'workspace.service'),
    // A household is chosen in personal context alone.
    row(
      'Workspace.selectedHousehold',
      all,
      read,
      'refused refused refused nothing nothing nothing nothing',
      constant('{ workspace { selectedHousehold { id } } }'),
      'workspace.selectedHousehold',
    ),
    row('Workspace.organization', read, unrelated, byScopeEachTheirOwn, constant('{ workspace { organization { id } } }'), 'workspace.organization'),
  ],
  routes: [
    { at: `GET ${api}/workspace`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/workspace` },
    { at: `GET ${api}/onboarding`, scopes: all, less: read, cells: people, path: () => `${api}/onboarding` },
    {
      ...{ at: `POST ${api}/onboarding/complete`, scopes: all, less: read, cells: managersAlone, path: () => `${api}/onboarding/complete` },
      body: ({ dashboard }) => ({ serviceId: dashboard }),
      fresh: verified,
    },
    { at: `GET ${api}/auth/me`, scopes: all, less: read, cells: people, path: () => `${api}/auth/me` },
    { at: `GET ${api}/auth/me/recovery-email`, scopes: all, less: read, cells: people, path: () => `${api}/auth/me/recovery-email` },
  ],
}
