import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Level } from '../credential/credential.ts'
import type { DomainStatus } from './domain.ts'

/** Sender identities. */
export const senderIdentities = table('providers.sender_identities', {
  id: uuid.key,
  level: text.of<Level>(),
  /** Organization; null for the platform's own. */
  organizationId: uuid.maybe,
  domainId: uuid,
  /** Local part, in lower case. */
  localPart: text,
  displayName: text.maybe,
  replyTo: text.maybe,
  isDefault: truth.or(false),
  ...stamps,
})

export type SenderIdentityRow = Row<typeof senderIdentities>

const columns = selectList(senderIdentities, 'i')
const seenBy = statement(
  `select ${columns} from providers.sender_identities i where i.organization_id = $1 or i.organization_id is null order by i.level desc, i.created_at, i.id`,
)
const lockOwner = transactionLock('providers.sender_identities')
const countOf = statement(
  `select count(*)::int as "inAll", count(*) filter (where domain_id = $2 and local_part = $3)::int as alike
     from providers.sender_identities where organization_id is not distinct from $1::uuid`,
)
const undefault = statement(
  `update providers.sender_identities set is_default = false, version = version + 1, updated_at = $3
    where organization_id is not distinct from $1::uuid and is_default and id <> $2`,
)
// The organization's identity comes first if its domain may send; an organization's default that may not send yet is
// skipped.
const sender = `${columns}, d.domain, d.status as "domainStatus"`
const standing = statement(
  `select ${sender} from providers.sender_identities i join providers.sender_domains d on d.id = i.domain_id
    where i.is_default and (i.organization_id = $1 or i.organization_id is null) and d.status = 'VERIFIED'
    order by i.organization_id nulls last limit 1`,
)
const named = statement(
  `select ${sender} from providers.sender_identities i join providers.sender_domains d on d.id = i.domain_id
    where i.id = $2 and (i.organization_id = $1 or i.organization_id is null)`,
)

/** A sender of mails. */
export interface Sender extends SenderIdentityRow {
  readonly domain: string
  readonly domainStatus: DomainStatus
}

function identitySql(rows: Rows<typeof senderIdentities>) {
  return {
    /** Returns an organization's identities, then the platform's. */
    seenBy: (organizationId: string): Promise<SenderIdentityRow[]> => rows.read(seenBy, [organizationId]),

    /**
     * Counts an owner's identities, and those with this address. Nobody creates another one for it before the
     * transaction ends.
     */
    async countOf({ organizationId, domainId, localPart }: Pick<SenderIdentityRow, 'organizationId' | 'domainId' | 'localPart'>, transaction: Transaction) {
      await rows.read(lockOwner, [organizationId ?? 'platform'], transaction)
      const [found] = await rows.read<{ inAll: number; alike: number }>(countOf, [organizationId, domainId, localPart], transaction)
      return found!
    },

    /** Clears the former default. Nobody sets another default before the transaction ends. */
    async onlyDefault({ organizationId, id }: Pick<SenderIdentityRow, 'organizationId' | 'id'>, now: Date, transaction: Transaction): Promise<void> {
      await rows.read(lockOwner, [organizationId ?? 'platform'], transaction)
      await rows.read(undefault, [organizationId, id, now], transaction)
    },

    /**
     * Returns the sender of an organization's mail: the named identity, its own or the platform's. By default its
     * default identity if that may send, else the platform's; null where neither may.
     */
    async sender(organizationId: string, identityId: string | null, transaction: Transaction): Promise<Sender | null> {
      const [found] = await (identityId === null
        ? rows.read<Sender>(standing, [organizationId], transaction)
        : rows.read<Sender>(named, [organizationId, identityId], transaction))
      return found ?? null
    },
  }
}

/** An organization sees its own identities, and everyone the platform's. */
export const identityStore = store(
  senderIdentities,
  { what: 'sender identity', tenancy: { where: 't.organization_id = :organization or t.organization_id is null' } },
  identitySql,
)
