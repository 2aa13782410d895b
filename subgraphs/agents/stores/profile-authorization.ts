import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
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

const ofProfile = statement(
  `select ${selectList(profileAuthorizations, 't')} from agents.profile_authorizations t where t.profile_id = $1 order by t.granted_at, t.id`,
)

export const profileAuthorizationStore = store(
  profileAuthorizations,
  { what: 'authorization', tenancy: { where: seenWithProfile }, manyBy: { profileId: 't.granted_at, t.id' } },
  (rows: Rows<typeof profileAuthorizations>) => ({
    /** All of a profile, in the transaction that holds it; for whoever may see the profile. */
    ofProfile: (profileId: string, transaction: Transaction): Promise<ProfileAuthorizationRow[]> => rows.read(ofProfile, [profileId], transaction),
  }),
)
