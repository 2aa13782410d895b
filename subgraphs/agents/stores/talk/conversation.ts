import { type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { countByCaller } from '../../../store/usage.ts'

export const conversations = table('agents.conversations', { id: uuid.key, organizationId: uuid, agentId: uuid, title: text, ...stamps })

export type ConversationRow = Row<typeof conversations>

const writtenToday = countByCaller(conversations)

export const conversationStore = store(
  conversations,
  { what: 'conversation', tenancy: { by: 'organizationId' }, filters: {} },
  (rows: Rows<typeof conversations>) => ({ madeBy: writtenToday(rows) }),
)
