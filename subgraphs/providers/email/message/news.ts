import type { NewFact } from '../../../store/fact-kinds.ts'
import type { EmailMessageRow } from '../../stores/email/message.ts'

/** Returns the facts for the service whose app sent a mail: one for each final state. */
export const outcomeOf = (before: Pick<EmailMessageRow, 'status'> | null, after: EmailMessageRow): readonly NewFact[] => {
  const { id, organizationId, appId, status, dueAt } = after
  if (dueAt !== null || before?.status === status) return []
  return [{ kind: 'email.outcome', body: { messageId: id, organizationId, appId, status } }]
}
