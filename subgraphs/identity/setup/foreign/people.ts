import { newId } from '../../../../platform/ids.ts'
import { isMailAddress, toStored } from '../../../../platform/smtp/mail-address.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import type { Newcomer } from '../../../authority.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Job } from '../../context.ts'

const lockSubject = transactionLock('identity.foreign_people', 2)
const findSubject = statement('select user_id from identity.foreign_people where issuer = $1 and subject = $2')
const findByAddress = statement(
  `select u.id, u.email_verified and u.kind = 'human' and not exists (select from identity.foreign_people f where f.user_id = u.id and f.issuer = $2) as free
     from identity.users u where u.email = $1 for update`,
)
const link = statement('insert into identity.foreign_people (issuer, subject, user_id, created_at) values ($1, $2, $3, $4)')

/** Name of a person whom the issuer does not name. */
const nameless = 'Unnamed'

/**
 * Creates the person of a new subject: concurrent requests create one. A person with the same verified address and
 * without another subject becomes that subject, so that existing people, and the first owner, keep their account.
 */
export async function admit(job: Job, issuer: string, newcomer: Newcomer): Promise<void> {
  const once = () => inTransaction(job, unit => admitWithin(job, issuer, newcomer, unit))
  // Two subjects claim one address: the second finds it taken.
  await once().catch(error => ((error as { name?: string }).name === 'SequelizeUniqueConstraintError' ? once() : Promise.reject(error)))
}

async function admitWithin(job: Job, issuer: string, { subject, name, email }: Newcomer, unit: WriteTransaction): Promise<void> {
  const { users } = job
  const { transaction, now } = unit
  await users.read(lockSubject, [issuer, subject], transaction)
  if ((await users.read(findSubject, [issuer, subject], transaction)).length > 0) return
  const address = email !== null && isMailAddress(email) ? toStored(email) : null
  const [there] = address === null ? [] : await users.read<{ id: string; free: boolean }>(findByAddress, [address, issuer], transaction)
  if (there?.free) return void (await users.read(link, [issuer, subject, there.id, now], transaction))
  const own = there ? null : address
  const stamps = { createdAt: now, updatedAt: now }
  const { id } = await users.insert({ id: newId(now), name: name ?? nameless, email: own, emailVerified: own !== null, ...stamps }, transaction)
  await users.read(link, [issuer, subject, id, now], transaction)
  await record(job, { tenantId: id, action: 'account.created', subjectId: id, personId: id, details: { issuer } }, unit)
}
