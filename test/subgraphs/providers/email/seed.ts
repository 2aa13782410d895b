import { newId } from '../../../../platform/ids.ts'
import { keyPair } from '../../../../subgraphs/providers/email/domain/resolvers.ts'
import type { DomainStatus, SenderDomainRow } from '../../../../subgraphs/providers/stores/email/domain.ts'
import type { SenderIdentityRow } from '../../../../subgraphs/providers/stores/email/identity.ts'
import type { EmailMessageRow, EmailStatus } from '../../../../subgraphs/providers/stores/email/message.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

type Graph = Pick<Supergraph, 'clock' | 'platform'>

/** One for all tests: making a key takes as long as the rest of one. */
const keys = keyPair()

export interface DomainSeed {
  /** Null: the platform's. */
  readonly organizationId: string | null
  readonly domain?: string
  readonly status?: DomainStatus
}

/** A domain, past every rule: VERIFIED unless said otherwise. */
export async function seedDomain({ clock, platform }: Graph, { organizationId, domain, status = 'VERIFIED' }: DomainSeed): Promise<SenderDomainRow> {
  const now = clock.now()
  const id = newId(now)
  const job = platform.providers.job('test')
  const { publicKey, privateKey } = await keys
  const key = { publicKey, privateKey: job.senderDomains.sealKey(id, privateKey), selector: 'test', token: 'token' }
  const place = { id, organizationId, level: organizationId ? ('ORGANIZATION' as const) : ('PLATFORM' as const), domain: domain ?? `${id.slice(-12)}.test` }
  const stamps = { createdAt: now, updatedAt: now, createdBy: 'test' }
  return inTransaction(job, ({ transaction }) =>
    job.senderDomains.insert(
      { ...place, ...key, kind: organizationId ? 'CUSTOM' : 'PLATFORM_EMAIL', status, nextCheckAt: new Date(now.getTime() + 86_400_000), ...stamps },
      transaction,
    ),
  )
}

/** An identity below a domain. */
export function seedIdentity({ clock, platform }: Graph, domain: SenderDomainRow, said: Partial<SenderIdentityRow> = {}): Promise<SenderIdentityRow> {
  const now = clock.now()
  const job = platform.providers.job('test')
  const { id: domainId, level, organizationId } = domain
  const id = newId(now)
  const row = { id, level, organizationId, domainId, localPart: `news-${id.slice(-6)}`, createdAt: now, updatedAt: now, createdBy: 'test', ...said }
  return inTransaction(job, ({ transaction }) => job.senderIdentities.insert(row, transaction))
}

/** A mail to ada@example.com that somebody has sent. */
export async function seedMessage(
  { clock, platform }: Graph,
  domain: SenderDomainRow,
  organizationId: string,
  status: EmailStatus = 'SENT',
): Promise<EmailMessageRow> {
  const now = clock.now()
  const job = platform.providers.job('test')
  const id = newId(now)
  const isWaiting = ['QUEUED', 'SENDING'].includes(status)
  const content = isWaiting ? job.emailMessages.seal(id, { text: 'Hello.', html: null, replyTo: null, headers: [] }) : null
  const outcome = isWaiting ? null : (status as 'SENT')
  const row = {
    organizationId,
    id,
    identityId: newId(now),
    domainId: domain.id,
    appId: 'app_providers',
    fromAddress: `news@${domain.domain}`,
    recipients: [{ address: 'ada@example.com', as: 'to' as const, outcome, answer: null }],
    subject: 'A subject',
    content,
    status,
    messageId: `<${id}@${domain.domain}>`,
    attempts: isWaiting ? 0 : 1,
    dueAt: isWaiting ? now : null,
    createdAt: now,
    updatedAt: now,
    createdBy: 'test',
  }
  return inTransaction(job, ({ transaction }) => job.emailMessages.insert(row, transaction))
}
