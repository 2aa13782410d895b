import { moment, type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { store } from '../../store/store.ts'
import { seenWithProfile } from './person-profile.ts'

export type AuthorizationKind = 'CONSENT' | 'CONTRACT' | 'EMPLOYMENT' | 'OTHER'

export const profileAuthorizations = table('agents.profile_authorizations', {
  profileId: uuid.key,
  id: uuid.key,
  kind: text.of<AuthorizationKind>(),
  reference: text,
  grantedBy: text.maybe,
  grantedAt: moment,
  expiresAt: moment.maybe,
  revokedAt: moment.maybe,
  ...stamps,
})

export type ProfileAuthorizationRow = Row<typeof profileAuthorizations>

export const profileAuthorizationStore = store(profileAuthorizations, {
  what: 'authorization',
  tenancy: { where: seenWithProfile },
  manyBy: { profileId: 't.granted_at, t.id' },
})
