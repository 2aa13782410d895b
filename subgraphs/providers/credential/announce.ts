import type { Events } from '../../../platform/events.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import { widgetTopic } from '../../subgraph.ts'
import { providerOf } from '../engines/third-party/catalogue.ts'
import type { CredentialRow } from '../stores/credential/credential.ts'

/** Publishes, after the commit, that a credential has changed: its organization's widget counts failing ones. */
export function announceCredential(events: Events, { organizationId }: Pick<CredentialRow, 'organizationId'>): void {
  if (organizationId !== null) events.announce(widgetTopic('providers', organizationId), { app: 'providers' })
}

const keyOf = ({ id }: Pick<CredentialRow, 'id'>): string => `credential:${id}`
const fails = (row: CredentialRow | null): row is CredentialRow => row?.status === 'FAILING'

/** Where facts about credentials are sent from. */
interface Place {
  readonly publicUrl: string
}

/**
 * Returns the facts about a change of a credential: attention when the provider rejects it, and its end.
 * @param after null for a deleted one
 */
export function factsOf(before: CredentialRow | null, after: CredentialRow | null, { publicUrl }: Place, admins: string | null = null): readonly NewFact[] {
  if (fails(before) === fails(after)) return []
  if (!fails(after)) return [{ kind: 'attention.closed', body: { key: keyOf(before!) } }]
  // The platform's credentials are the platform admins' concern; before there is one, only the widget shows it.
  const organizationId = after.organizationId ?? admins
  if (organizationId === null) return []
  const { title } = providerOf(after.provider)
  const body = {
    key: keyOf(after),
    kind: 'CREDENTIAL_FAILING',
    organizationId,
    subjectId: after.id,
    title: `${title} refuses the credential “${after.name}”`,
    url: `${publicUrl}/providers/api/credentials/${after.id}`,
    at: new Date(Math.max(...[after.updatedAt, after.testedAt, after.lastUsedAt].map(Number))).toISOString(),
    audience: 'managers' as const,
    ...(after.testMessage && { body: after.testMessage }),
  }
  return [{ kind: 'attention.opened', body }]
}
