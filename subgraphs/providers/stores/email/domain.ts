import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { RetentionRule } from '../../../../platform/jobs/retention.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Level } from '../credential/credential.ts'

export type DomainKind = 'PLATFORM_EMAIL' | 'CUSTOM'
export type DomainStatus = 'PENDING' | 'VERIFIED' | 'FAILED' | 'SUSPENDED'
export type RecordPurpose = 'OWNERSHIP' | 'SPF' | 'DKIM' | 'DMARC' | 'RETURN_PATH'
export type RecordStatus = 'MISSING' | 'WRONG' | 'FOUND'

/** Last lookup of each record; unknown ones are missing. */
export type Seen = Readonly<Partial<Record<RecordPurpose, RecordStatus>>>

/** A record of DNS that the owner of a domain sets for us. */
export interface WantedRecord {
  readonly purpose: keyof Required<Seen>
  readonly type: 'TXT' | 'CNAME'
  readonly host: string
  readonly value: string
}

/** Sender domains. */
export const senderDomains = table('providers.sender_domains', {
  id: uuid.key,
  level: text.of<Level>(),
  /** Organization; null for the platform's own. */
  organizationId: uuid.maybe,
  /** Domain in DNS form: lower case, A-labels. */
  domain: text,
  kind: text.of<DomainKind>(),
  status: text.of<DomainStatus>().or('PENDING'),
  token: text,
  selector: text,
  /** SubjectPublicKeyInfo in base64. */
  publicKey: text,
  /** Encrypted PKCS #8 in PEM. */
  privateKey: text,
  seen: json.of<Seen>().or({}),
  lastCheckedAt: moment.maybe,
  nextCheckAt: moment,
  /** Since when it waits for its records; null: since its creation. */
  claimedAt: moment.maybe,
  ...stamps,
})

export type SenderDomainRow = Row<typeof senderDomains>

const columns = selectList(senderDomains, 'd')
const levelOf = statement('select level from providers.sender_domains where id = $1')
const lockDomain = transactionLock('providers.sender_domains')
const claimOf = statement(`select ${columns} from providers.sender_domains d where d.domain = $1 for no key update of d`)
const anyById = statement(`select ${columns} from providers.sender_domains d where d.id = $1`)
const claim = statement(
  `insert into providers.sender_domain_claims as c (organization_id, domain, since) values ($1, $2, $3)
   on conflict (organization_id, domain) do update set since = least(c.since, excluded.since) returning since`,
)
const countOf = statement('select count(*)::int as count from providers.sender_domains where organization_id is not distinct from $1::uuid')
const ofOwner = (condition: string) =>
  statement(`select ${columns} from providers.sender_domains d where ${condition} order by d.level desc, d.created_at, d.id`)
const seenBy = ofOwner('d.organization_id = $1 or d.organization_id is null')
// The due domains are claimed, so that no other process looks them up at the same time.
const due = statement(
  `update providers.sender_domains d set next_check_at = $2 where d.id in (
     select id from providers.sender_domains where next_check_at <= $1 order by next_check_at limit $3 for no key update skip locked)
   returning d.id`,
)

/** Retention of claims: as long as calls. */
export const agingOfClaims: RetentionRule = {
  table: 'providers.sender_domain_claims',
  days: 400,
  old: 'o.since < $1',
  order: 'o.since',
}

const place = (id: string) => `providers.sender_domain:${id}:private-key`

/** Column of encrypted domain keys. */
export const sealedDomainKeys: readonly SealedColumn[] = [{ table: senderDomains.name, key: 'id', column: 'private_key', about: place }]

function domainSql(rows: Rows<typeof senderDomains>, cipher: Cipher) {
  return {
    /** Encrypts a private key. */
    sealKey: (id: string, pem: string): string => cipher.seal(pem, place(id)),

    /**
     * Decrypts the private key, for signing mails, never for an answer. @throws when it was encrypted with an unknown
     * key
     */
    openKey: ({ id, privateKey }: Pick<SenderDomainRow, 'id' | 'privateKey'>): string => cipher.open(privateKey, place(id)),

    /** Returns an organization's domains, then the platform's. */
    seenBy: (organizationId: string): Promise<SenderDomainRow[]> => rows.read(seenBy, [organizationId]),

    /** The level of a domain, without a check of the viewer; null if unknown. */
    async levelOf(id: string): Promise<Level | null> {
      const [found] = await rows.read<{ level: Level }>(levelOf, [id])
      return found?.level ?? null
    },

    /** Returns any organization's domain, for platform administrators. */
    async anyById(id: string, transaction: Transaction): Promise<SenderDomainRow | null> {
      const [found] = await rows.read(anyById, [id], transaction)
      return found ?? null
    },

    /** Returns and locks the claim to a name until the transaction ends. */
    async claimOf(domain: string, transaction: Transaction): Promise<SenderDomainRow | null> {
      await rows.read(lockDomain, [`domain ${domain}`], transaction)
      const [found] = await rows.read(claimOf, [domain], transaction)
      return found ?? null
    },

    /** Returns since when an organization claims a name: removing and adding it again does not restart the claim. */
    async claimedSince(organizationId: string, domain: string, now: Date, transaction: Transaction): Promise<Date> {
      const [found] = await rows.read<{ since: Date }>(claim, [organizationId, domain, now], transaction)
      return found!.since
    },

    /** Counts an owner's domains. Nobody creates another one for it before the transaction ends. */
    async countOf(organizationId: string | null, transaction: Transaction): Promise<number> {
      await rows.read(lockDomain, [`owner ${organizationId ?? 'platform'}`], transaction)
      const [found] = await rows.read<{ count: number }>(countOf, [organizationId], transaction)
      return found!.count
    },

    /** Takes due domains for a lookup. @param next when they are looked up again, if the worker dies */
    async takeDue(now: Date, next: Date, most: number): Promise<readonly string[]> {
      return (await rows.read<{ id: string }>(due, [now, next, most])).map(({ id }) => id)
    },
  }
}

/** An organization sees its own domains, and everyone the platform's. */
export const domainStore = (cipher: Cipher) =>
  store(senderDomains, { what: 'sender domain', tenancy: { where: 't.organization_id = :organization or t.organization_id is null' } }, rows =>
    domainSql(rows, cipher),
  )
