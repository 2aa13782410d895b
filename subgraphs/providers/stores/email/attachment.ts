import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import { newId } from '../../../../platform/ids.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { integer, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import type { StoreContext } from '../../../store/store.ts'

/** A file that a mail carries. */
export interface Attachment {
  readonly name: string
  readonly contentType: string
  readonly content: Buffer
}

/** Attachments of unsent mails, encrypted; they are deleted with the content. */
export const emailAttachments = table('providers.email_attachments', {
  id: uuid.key,
  organizationId: uuid,
  messageId: uuid,
  /** Index among the mail's attachments, from 0. */
  place: integer,
  name: text,
  contentType: text,
  /** Encrypted base64. */
  content: text,
})

/** An attachment in stored form. */
export interface SealedAttachment {
  readonly id: string
  readonly name: string
  readonly contentType: string
  readonly content: string
}

const placeOf = (id: string) => `providers.email_attachment:${id}:content`

/** Column of encrypted attachments. */
export const sealedAttachments: readonly SealedColumn[] = [{ table: emailAttachments.name, key: 'id', column: 'content', about: placeOf, batch: 5 }]

const insert = statement(
  'insert into providers.email_attachments (id, organization_id, message_id, place, name, content_type, content) values ($1, $2, $3, $4, $5, $6, $7)',
)
const ofMessage = statement('select id, name, content_type as "contentType", content from providers.email_attachments where message_id = $1 order by place')

export const attachmentStore = (cipher: Cipher) => ({
  table: emailAttachments,
  lists: {},
  open: ({ sequelize }: StoreContext) => ({
    /** Stores a mail's attachments, in the transaction that writes the mail. */
    async keep(
      mail: { readonly organizationId: string; readonly id: string },
      attachments: readonly Attachment[],
      now: Date,
      transaction: Transaction,
    ): Promise<void> {
      for (const [place, { name, contentType, content }] of attachments.entries()) {
        const id = newId(now)
        const sealed = cipher.seal(content.toString('base64'), placeOf(id))
        await rows(sequelize, insert, [id, mail.organizationId, mail.id, place, name, contentType, sealed], transaction)
      }
    },

    /** Returns a mail's encrypted attachments, in order. */
    of: (messageId: string) => rows<SealedAttachment>(sequelize, ofMessage, [messageId]),

    /** Decrypts an attachment. @throws when it was encrypted with an unknown key */
    opened: ({ id, name, contentType, content }: SealedAttachment): Attachment => ({
      name,
      contentType,
      content: Buffer.from(cipher.open(content, placeOf(id)), 'base64'),
    }),
  }),
})
