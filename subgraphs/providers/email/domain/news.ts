import type { NewFact } from '../../../store/fact-kinds.ts'
import type { SenderDomainRow } from '../../stores/email/domain.ts'

const keyOf = ({ id }: Pick<SenderDomainRow, 'id'>): string => `sender-domain:${id}`

/**
 * What the launcher is told of a change of a domain: that it waits for somebody because its records are gone, or does no more.
 * @param after null for one that is gone
 * @param admins the organization that looks after the platform and sees to its domains; null where nobody does yet: then the log alone says it
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
