import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { DomainStatus } from './domain.ts'

export type EmailStatus = 'QUEUED' | 'SENDING' | 'SENT' | 'DELIVERED' | 'BOUNCED' | 'COMPLAINED' | 'SUPPRESSED' | 'FAILED' | 'UNKNOWN'

/** Outcome for one recipient; `REFUSED` by the mail server at once, `BOUNCED` as reported later. */
export type RecipientOutcome = Exclude<EmailStatus, 'QUEUED' | 'SENDING'> | 'REFUSED'

export interface Recipient {
  /** Address, with its domain in lower case. */
  readonly address: string
  readonly as: 'to' | 'cc' | 'bcc'
  /** Outcome; null until it is known. */
  readonly outcome: RecipientOutcome | null
  /** Codes of the mail server's answer. */
  readonly answer: string | null
}

/** Content of a mail; stored encrypted, and only until it will not be sent any more. */
export interface EmailContent {
  readonly text: string | null
  readonly html: string | null
  readonly replyTo: string | null
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

/** Mails, each until some weeks after it was written. */
export const emailMessages = table('providers.email_messages', {
  organizationId: uuid.key,
  id: uuid.key,
  identityId: uuid,
  domainId: uuid,
  /** The app that requested the mail, which receives facts about it. */
  appId: text,
  fromName: text.maybe,
  fromAddress: text,
  recipients: json.of<readonly Recipient[]>(),
  subject: text,
  /** Encrypted content. */
  content: text.maybe,
  status: text.of<EmailStatus>().or('QUEUED'),
  /** Value of the Message-ID header, brackets included. */
  messageId: text,
  attempts: integer.or(0),
  failureCode: text.maybe,
  failureMessage: text.maybe,
  /** Time of the next attempt, or during an attempt when the outcome counts as unknown. */
  dueAt: moment.maybe,
  claim: uuid.maybe,
  sentAt: moment.maybe,
  ...stamps,
})

export type EmailMessageRow = Row<typeof emailMessages>

/** A mail with the data for sending it. */
export interface Departing extends EmailMessageRow {
  /** Domain; all domain columns are null if it was deleted. */
  readonly domain: string | null
  readonly domainStatus: DomainStatus | null
  /** Whether the domain is the platform's. */
  readonly isPlatforms: boolean | null
  readonly selector: string | null
  readonly privateKey: string | null
}

const columns = selectList(emailMessages, 'm')
const lockPeoples = transactionLock('providers.messages_of_people')
const peoples = statement(
  `with told as (
     select m.created_at as at, lower(r ->> 'address') as address
       from providers.email_messages m join providers.sender_domains d on d.id = m.domain_id, jsonb_array_elements(m.recipients) r
      where m.organization_id = $1 and m.created_at > $2 and m.created_by not like 'service:%' and d.level = 'PLATFORM')
   select count(*)::int as recipients, min(at) as since,
          coalesce((select max(times) from (select count(*)::int as times from told where address = any($3::text[]) group by address) each), 0) as "toOne"
     from told`,
)
const departing = statement(
  `select ${columns}, d.domain, d.status as "domainStatus", d.level = 'PLATFORM' as "isPlatforms", d.selector, d.private_key as "privateKey"
     from providers.email_messages m left join providers.sender_domains d on d.id = m.domain_id where m.id = $1`,
)
// If two arrive at once, the second finds the key taken.
const begin = statement(
  `update providers.email_messages set status = 'SENDING', claim = $4, due_at = $3, attempts = attempts + 1
    where id = $1 and status = 'QUEUED' and due_at <= $2 returning id`,
)
const lockOfAccount = statement(`select ${columns} from providers.email_messages m where m.id = $1 and m.organization_id = $2 for update`)
const overdue = statement('select id from providers.email_messages where due_at <= $1 order by due_at limit $2')
const byMessageId = statement('select id from providers.email_messages where message_id = $1')
const heard = statement('insert into providers.email_events (key, at) values ($1, $2) on conflict do nothing returning key')

const place = (id: string) => `providers.email_message:${id}:content`

/** Column of encrypted contents. */
export const sealedContents: readonly SealedColumn[] = [{ table: emailMessages.name, key: 'id', column: 'content', about: place }]

function messageSql(rows: Rows<typeof emailMessages>, cipher: Cipher) {
  return {
    /** Encrypts a mail's content. */
    seal: (id: string, content: EmailContent): string => cipher.seal(JSON.stringify(content), place(id)),

    /** Decrypts the content. @throws when it was encrypted with an unknown key */
    open: (id: string, content: string): EmailContent => JSON.parse(cipher.open(content, place(id))) as EmailContent,

    /**
     * Counts mails that people and keys of an organization sent in the platform's name since a moment: recipients, the
     * first time, and the most frequent of these addresses. Nobody writes another one before the transaction ends.
     * @param addresses in lower case
     */
    async ofPeople({ organizationId, since, addresses }: { organizationId: string; since: Date; addresses: readonly string[] }, transaction: Transaction) {
      await rows.read(lockPeoples, [organizationId], transaction)
      const [found] = await rows.read<{ recipients: number; since: Date | null; toOne: number }>(peoples, [organizationId, since, addresses], transaction)
      return found!
    },

    /** Locks a mail of an account; null for none. The platform calls on its account without acting in an organization. */
    async lockOfAccount(organizationId: string, id: string, transaction: Transaction): Promise<EmailMessageRow | null> {
      return (await rows.read<EmailMessageRow>(lockOfAccount, [id, organizationId], transaction))[0] ?? null
    },

    /** Returns a mail with the data for sending it. */
    async departing(id: string): Promise<Departing | null> {
      const [found] = await rows.read<Departing>(departing, [id])
      return found ?? null
    },

    /** Begins an attempt of a due mail: its outcome is unknown until the attempt ends. @returns whether it was due */
    async begin(id: string, { now, until, claim }: { readonly now: Date; readonly until: Date; readonly claim: string }): Promise<boolean> {
      return (await rows.read(begin, [id, now, until, claim])).length > 0
    },

    /** Returns mails that were due before a moment: a wake-up may be lost, the mail is not. */
    overdue: async (before: Date, most: number): Promise<readonly string[]> => (await rows.read<{ id: string }>(overdue, [before, most])).map(({ id }) => id),

    /** The mail that a mail server calls so. */
    async byMessageId(messageId: string): Promise<string | null> {
      const [found] = await rows.read<{ id: string }>(byMessageId, [messageId])
      return found?.id ?? null
    },

    /** Records a report. @returns false for a repeated one */
    async hear(key: string, now: Date, transaction: Parameters<typeof rows.read>[2]): Promise<boolean> {
      return (await rows.read(heard, [key, now], transaction)).length > 0
    },
  }
}

export const messageStore = (cipher: Cipher) =>
  store(emailMessages, { what: 'mail', tenancy: { by: 'organizationId' }, filters: { appId: 'eq', status: 'eq' } }, rows => messageSql(rows, cipher))
