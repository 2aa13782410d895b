import { integer, type Row, stamps, table, truth, uuid } from '../../../../platform/sql/table.ts'
import { store } from '../../../store/store.ts'

/** Digests that people had sent, for as long as the same request may be repeated. */
const digests = table('launcher.digests', { id: uuid.key, userId: uuid, sent: truth, openItems: integer, unreadNotifications: integer, ...stamps })

export type NotificationDigestRow = Row<typeof digests>

export const digestStore = store(digests, { what: 'digest', tenancy: { where: 't.user_id = :person' } })
