import type { Handlers } from '../../../http/handlers.ts'
import type { At, Context } from '../../context.ts'
import { selectedOf } from '../household/resolvers.ts'
import { readAccount } from './onboarding.ts'

/** Members of an account's profile that identity's own answer has as well. */
interface Profile {
  readonly organizations: readonly { readonly id: string; readonly slug: string; readonly name: string }[]
  readonly [more: string]: unknown
}

/** Returns what pages know of the viewer before anything else: identity's answer, and what the launcher adds to it. */
async function hydrated(context: Context): Promise<object> {
  const { viewer } = context
  const [{ profile, onboarding }, selected] = await Promise.all([readAccount(context), selectedOf(context)])
  const { user, session, organizations, recoveryEmail } = profile as Profile
  const active = organizations.find(({ id }) => id === viewer.organizationId)
  const { state, serviceId, next } = onboarding
  return {
    ...{ user, session, context: viewer.context, organization: active ? { id: active.id, slug: active.slug, name: active.name } : null },
    ...{ roles: viewer.roles, scopes: viewer.scopes, organizations, recoveryEmail },
    ready: true,
    onboarding: { state: state.toLowerCase(), serviceId, next },
    selectedHouseholdId: selected?.id ?? null,
    selectedHousehold: selected && { id: selected.id, name: selected.name, role: selected.role.toLowerCase() },
  }
}

/** Route that pages call first. */
export const workspaceHandlers = ({ contexts }: At): Handlers => ({
  'GET /launcher/api/auth/me': async (request, viewer) =>
    Response.json(await hydrated(contexts.forRequest(viewer, request)), { headers: { 'cache-control': 'no-store' } }),
})
