import { nounRoutes } from '../derive/route.ts'
import { recoveryFields } from '../identity/account.ts'
import { meFields } from '../identity/session.ts'
import type { Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const onboarding = 'state serviceId next canComplete'
const member = 'userId: user { id } name role joinedAt'
const invitation = 'id householdName email role status createdAt expiresAt'

const operations = nounRoutes({
  select: {
    Household: `id name members { ${member} } invitations { ${invitation} } version`,
    HouseholdInvitation: invitation,
    Workspace: `context organizationId: organization { id } serviceId: service { id } selectedHouseholdId onboarding { ${onboarding} }
      links { apiKeys households appCommerce developerSignup }`,
    Onboarding: onboarding,
  },
  routes: {
    'GET /api/widget': 'launcherWidget',
    'GET /api/workspace': 'workspace',
    'GET /api/onboarding': 'onboarding',
    'POST /api/onboarding/complete': { run: 'completeServiceOnboarding', status: 200 },
    'GET /api/households': 'households',
    'POST /api/households': 'createHousehold',
    'GET /api/households/:id': 'household',
    'PUT /api/households/:id': 'updateHousehold',
    'DELETE /api/households/:id': 'deleteHousehold',
    'POST /api/households/:householdId/invitations': { run: 'inviteToHousehold', status: 201, location: null },
    'PUT /api/households/:householdId/members/:userId': 'changeHouseholdRole',
    'DELETE /api/households/:householdId/members/:userId': 'removeHouseholdMember',
    'GET /api/households/invitations': { run: 'householdInvitations', list: 'invitations' },
    'POST /api/households/invitations/:id/acceptance': { run: 'acceptHouseholdInvitation', mayBeEmpty: true },
    'POST /api/households/invitations/:id/decline': { run: 'declineHouseholdInvitation', mayBeEmpty: true },
    'POST /api/households/invitations/:id/withdrawal': { run: 'withdrawHouseholdInvitation', mayBeEmpty: true },
    'PUT /api/workspace/household': 'selectHousehold',
  },
})

const text = { type: 'string' } as const
const object = (properties: Readonly<Record<string, JsonSchema>>) => ({ type: 'object', properties, required: Object.keys(properties) })
const maybeId = { type: ['string', 'null'], format: 'uuid' } as const

const me: Documented = {
  name: 'hydrate',
  does: 'Who is signed in, as identity answers it, what the person has yet to do before the dashboard opens, and the household that is selected in personal context.',
  answers: {
    200: {
      description: 'The person.',
      schema: object({
        ...meFields,
        ready: { type: 'boolean', description: 'True: whoever got this answer is signed in.' },
        onboarding: object({ state: { enum: ['recovery_email', 'service', 'done'] }, serviceId: text, next: { enum: ['/onboarding', '/dashboard'] } }),
        selectedHouseholdId: maybeId,
        selectedHousehold: { ...object({ id: text, name: text, role: { enum: ['owner', 'adult', 'child'] } }), type: ['object', 'null'] },
      }),
    },
  },
}
const recovery: Documented = {
  name: 'showRecoveryEmailOfDashboard',
  does: 'Shows the recovery address, as identity answers it.',
  answers: { 200: { description: 'The recovery address.', schema: object(recoveryFields) } },
}

const row = {
  ...{ kind: 'forward', method: 'GET', limit: 1024, why: 'own answer', role: 'web', access: { policy: 'person' } },
} as const satisfies Partial<ForwardRow>

export const workspaceRows: readonly Row[] = [
  ...operations,
  { ...row, path: '/api/auth/me', to: 'launcher', describes: [me] },
  { ...row, path: '/api/auth/me/recovery-email', to: 'identity', describes: [recovery] },
]
