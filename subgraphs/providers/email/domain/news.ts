import type { NewFact } from '../../../store/fact-kinds.ts'
import type { SenderDomainRow } from '../../stores/email/domain.ts'

const keyOf = ({ id }: Pick<SenderDomainRow, 'id'>): string => `sender-domain:${id}`

/**
 * Returns the facts about a change of a domain: attention when its records are gone, and its end.
 * @param after null for a deleted one
 * @param admins the organization that administers the platform's domains; null before there is one: then only the log
 * reports it
 */
export function factsOf(
  before: SenderDomainRow,
  after: SenderDomainRow | null,
  { publicUrl }: { readonly publicUrl: string },
  admins: string | null = null,
): readonly NewFact[] {
  const [failed, fails] = [before.status === 'FAILED', after?.status === 'FAILED']
  if (failed === fails) return []
  if (!fails) return [{ kind: 'attention.closed', body: { key: keyOf(before) } }]
  const organizationId = before.organizationId ?? admins
  if (organizationId === null) return []
  const body = {
    key: keyOf(before),
    kind: 'SENDER_DOMAIN_FAILED',
    organizationId,
    subjectId: before.id,
    title: `Records of ${before.domain} are gone or changed: no mail leaves from it`,
    url: `${publicUrl}/providers/api/email/domains/${before.id}`,
    at: after!.updatedAt.toISOString(),
    audience: 'managers' as const,
  }
  return [{ kind: 'attention.opened', body }]
}
