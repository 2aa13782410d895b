/**
 * How better-auth's tables are called in our schema: plural nouns and snake_case columns, as every other table.
 * `db/migrations/identity/0001_better_auth.sql` is compiled from this and the options beside it.
 */
export const usersTable = {
  modelName: 'users',
  fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
}

export const sessionsTable = {
  modelName: 'sessions',
  fields: {
    userId: 'user_id',
    expiresAt: 'expires_at',
    ipAddress: 'ip_address',
    userAgent: 'user_agent',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
}

export const accountsTable = {
  modelName: 'accounts',
  fields: {
    userId: 'user_id',
    accountId: 'account_id',
    providerId: 'provider_id',
    accessToken: 'access_token',
    refreshToken: 'refresh_token',
    accessTokenExpiresAt: 'access_token_expires_at',
    refreshTokenExpiresAt: 'refresh_token_expires_at',
    idToken: 'id_token',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
}

export const verificationsTable = {
  modelName: 'verifications',
  fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
}
