import type { NewFact } from '../../../store/fact-kinds.ts'
import type { SenderDomainRow } from '../../stores/email/domain.ts'

const keyOf = ({ id }: Pick<SenderDomainRow, 'id'>): string => `sender-domain:${id}`

/**
 * What the launcher is told of a change of a domain: that it waits for somebody because its records are gone, or does no more. Of the
 * platform's the log says it, and readiness: no organization manages them.
 * @param after null for one that is gone
 */
export function factsOf(before: SenderDomainRow, after: SenderDomainRow | null, { publicUrl }: { readonly publicUrl: string }): readonly NewFact[] {
  const [failed, fails] = [before.status === 'FAILED', after?.status === 'FAILED']
  if (failed === fails || before.organizationId === null) return []
  if (!fails) return [{ kind: 'attention.closed', body: { key: keyOf(before) } }]
  const body = {
    key: keyOf(before),
    kind: 'SENDER_DOMAIN_FAILED',
    organizationId: before.organizationId,
    subjectId: before.id,
    title: `Records of ${before.domain} are gone or changed: no mail leaves from it`,
    url: `${publicUrl}/providers/api/email/domains/${before.id}`,
    at: after!.updatedAt.toISOString(),
    audience: 'managers' as const,
  }
  return [{ kind: 'attention.opened', body }]
}
