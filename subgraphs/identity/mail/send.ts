import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { hashOfSecret } from '../../../platform/cipher.ts'
import { newId } from '../../../platform/ids.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { toStored } from '../../../platform/smtp/mail-address.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import { codeLives } from '../stores/code.ts'
import { isLinked, linked, type NewMail } from './kinds.ts'
import { sendQueueName } from './queue.ts'
import { perAddress } from './rules.ts'
import type { MailStore } from './store.ts'

/** Sends mails for resolvers, handlers and jobs, under the name `mails`. */
export interface Mails {
  /**
   * Writes a mail in the transaction that causes it: no commit, no mail. It is sent once, within two seconds.
   * @returns false when the address has received the maximum of its kind within an hour: then none is sent, and nobody
   * is informed
   */
  send(mail: NewMail, unit: { readonly transaction: Transaction; readonly now: Date }): Promise<boolean>
}

export interface MailsOptions {
  readonly store: MailStore
  readonly cipher: Cipher
  /** Returns the job queue that sends mails; a function, because the queue is created later from this object. */
  readonly jobs: () => Jobs
  /** The host that the ids of mails end in. */
  readonly idHost: string
}

/** Returns the context that a mail's encrypted code is bound to. */
export const codePlace = (mailId: string): string => `mail:${mailId}:code`

/** Column of encrypted codes of unsent mails. */
export const sealedCodes: readonly SealedColumn[] = [{ table: 'identity.mails', key: 'id', column: 'code', about: codePlace }]

export const createMails = ({ store, cipher, jobs, idHost }: MailsOptions): Mails => ({
  async send(mail, { transaction, now }) {
    const recipient = toStored(mail.to)
    // Addresses are validated on input: one that could end a header is a bug of ours.
    if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/u.test(recipient) || /\p{C}/u.test(recipient)) throw new Error('a mail is to go to what is no address')
    const since = new Date(now.getTime() - perAddress.windowMs)
    if ((await store.countTo(recipient, mail.kind, since, transaction)) >= perAddress.most) return false
    const clear = typeof mail.code === 'function' ? await mail.code() : mail.code
    if (isLinked(mail.kind) !== (clear !== undefined))
      throw new Error(`a mail of the kind ${mail.kind} ${clear === undefined ? 'needs a code' : 'has no code'}`)
    const id = newId(now)
    await store.add(
      {
        id,
        kind: mail.kind,
        recipient,
        data: mail.data,
        code: clear === undefined ? null : cipher.seal(clear, codePlace(id)),
        codeHash: clear === undefined ? null : hashOfSecret(clear),
        codeEndsAt: isLinked(mail.kind) ? new Date(now.getTime() + codeLives[linked[mail.kind].purpose]) : null,
        messageId: `<${id}@${idHost}>`,
        createdAt: now,
      },
      transaction,
    )
    await jobs().enqueue(sendQueueName, { mailId: id }, { transaction, key: id })
    return true
  },
})
