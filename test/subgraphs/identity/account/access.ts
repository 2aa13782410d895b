import { type AccessRows, all, constant, people, publicRoute, row, unrelated } from '../../../access/row.ts'

const page = (path: string) =>
  (['GET', 'POST'] as const).map(method => ({
    at: `${method} /identity${path}`,
    scopes: all,
    less: unrelated,
    cells: publicRoute,
    path: () => `/identity${path}`,
  }))

// A wrong password is 403 for everybody whom the router lets in: `denied`, by the rule and not by the door.
const mine = { scopes: all, less: unrelated, cells: people }

export const access: AccessRows = {
  fields: [
    // Nobody here has one.
    row(
      'User.recoveryEmail',
      all,
      unrelated,
      'refused refused refused  nothing  nothing  nothing  nothing',
      constant('{ viewer { user { recoveryEmail { email } } } }'),
      'viewer.user.recoveryEmail',
      async ({ graph }) => {
        await graph.rows('delete from identity.recovery_emails')
        return ''
      },
    ),
  ],
  routes: [
    ...page('/sign-up'),
    ...page('/verify-email'),
    ...page('/reset-password'),
    ...page('/verify-recovery-email'),
    {
      ...mine,
      at: 'POST /identity/api/auth/change-password',
      path: () => '/identity/api/auth/change-password',
      body: () => ({ currentPassword: 'correct horse battery', newPassword: 'correct horse battery' }),
    },
    {
      ...mine,
      at: 'POST /identity/api/auth/change-email',
      path: () => '/identity/api/auth/change-email',
      body: () => ({ currentPassword: 'correct horse battery', newEmail: 'another@test.test' }),
    },
    { ...mine, at: 'GET /identity/api/auth/me/recovery-email', path: () => '/identity/api/auth/me/recovery-email' },
    {
      ...mine,
      at: 'PUT /identity/api/auth/me/recovery-email',
      path: () => '/identity/api/auth/me/recovery-email',
      body: () => ({ email: 'recovery@test.test', currentPassword: 'correct horse battery' }),
    },
    { ...mine, at: 'DELETE /identity/api/auth/me/recovery-email', path: () => '/identity/api/auth/me/recovery-email' },
  ],
}
