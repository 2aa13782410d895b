import { randomBytes } from 'node:crypto'
import { newId } from '../../../platform/ids.ts'
import { isMailAddress, mailAddressSentence } from '../../../platform/smtp/mail-address.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { selectList } from '../../../platform/sql/table.ts'
import { type WriteTransaction, writeFacts } from '../../store/books.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import { inTransaction } from '../../store/write.ts'
import { keptOf, serviceOfAll, writeKey } from '../api-key/rules.ts'
import type { Job } from '../context.ts'
import { isAdded } from '../membership/rules.ts'
import { isCreated } from '../organization/rules.ts'
import { apiKeys } from '../stores/api-key.ts'
import type { World } from './world.ts'

/** Ids of everything in the world, new or found. */
export interface Provisioned {
  /** Ids of people by address. */
  readonly users: Readonly<Record<string, string>>
  /** Ids of organizations by slug. */
  readonly organizations: Readonly<Record<string, string>>
  /** Keys by name; `secret` is the clear text of a new key, null for an existing one. */
  readonly keys: Readonly<Record<string, { readonly id: string; readonly secret: string | null }>>
}

/** Takes the lock under which the first people and organizations are made. */
const lockProvision = transactionLock('identity.provision', 0)
const findPeople = statement('select id, email as name from identity.users where email = any($1::text[])')
const findOrganizations = statement('select id, slug as name from identity.organizations where slug = any($1::text[])')
const findMembers = statement(
  `select organization_id || ' ' || user_id as place from identity.memberships where organization_id = any($1::uuid[]) and user_id = any($2::uuid[])`,
)
const findServiceAccounts = statement(
  `select m.organization_id || ' ' || u.name as place from identity.users u join identity.memberships m on m.user_id = u.id
    where u.kind = 'service_account' and m.organization_id = any($1::uuid[]) and u.name = any($2::text[])`,
)
const findKeys = statement(
  `select ${selectList(apiKeys, 't')} from identity.api_keys t where t.organization_id = any($1::uuid[]) and t.name = any($2::text[]) and t.revoked_at is null`,
)

/** Author of records that nobody requested by name. */
const createdBy = 'platform'

/**
 * Creates missing parts of a world, in one transaction, and leaves existing ones alone: changed passwords, names and
 * roles stay. After the first time it costs seven statements, and one more with service accounts.
 */
export const provision = (job: Job, world: World): Promise<Provisioned> => inTransaction(job, unit => provisionWithin(job, world, unit))

/** Provisions a world within the caller's transaction. */
export async function provisionWithin(job: Job, world: World, unit: WriteTransaction): Promise<Provisioned> {
  const wrong = world.people.find(({ email }) => !isMailAddress(email))
  if (wrong) throw new Error(`the world has a person at ${wrong.email}, where nobody could sign in: an address is ${mailAddressSentence}`)
  await job.users.read(lockProvision, [], unit.transaction)
  const users = await providePeople(job, world, unit)
  const organizations = await provideOrganizations(job, world, unit)
  await provideMemberships(job, world, users, organizations, unit)
  await provideServiceAccounts(job, world, organizations, unit)
  const keys = await provideKeys(job, world, users, organizations, unit)
  return { users, organizations, keys }
}

type Ids = Readonly<Record<string, string>>
type Named = { readonly id: string; readonly name: string }
const byName = (found: readonly Named[]): Record<string, string> => Object.fromEntries(found.map(({ name, id }) => [name, id]))

async function providePeople(job: Job, { people, password }: World, { transaction, now }: WriteTransaction): Promise<Ids> {
  const ids = byName(await job.users.read<Named>(findPeople, [people.map(({ email }) => email)], transaction))
  const made: string[] = []
  for (const { email, name, recovery } of people) {
    if (ids[email]) continue
    const { id } = await job.users.insert({ id: newId(now), email, name, emailVerified: true, createdAt: now, updatedAt: now }, transaction)
    ids[email] = id
    made.push(id)
    if (recovery) {
      await job.recoveryEmails.ask(id, recovery, { transaction, now })
      await job.recoveryEmails.verify(id, recovery, { transaction, now })
    }
  }
  if (made.length > 0 && password !== null) {
    const { hashPassword } = await import('better-auth/crypto')
    // Hashed once, so that any number of accounts costs one hash.
    await job.accounts.givePassword(made, await hashPassword(password), { transaction, now })
  }
  return ids
}

async function provideOrganizations(job: Job, world: World, unit: WriteTransaction): Promise<Ids> {
  const { transaction, now } = unit
  const { organizations } = job
  const ids = byName(await organizations.read<Named>(findOrganizations, [world.organizations.map(({ slug }) => slug)], transaction))
  const made: NewFact[] = []
  for (const { slug, name } of world.organizations) {
    if (ids[slug]) continue
    const organization = await organizations.insert({ id: newId(now), slug, name, createdAt: now, updatedAt: now, createdBy }, transaction)
    ids[slug] = organization.id
    made.push(isCreated(organization))
  }
  await writeFacts(job, made, unit)
  return ids
}

async function provideMemberships(job: Job, world: World, users: Ids, organizations: Ids, unit: WriteTransaction): Promise<void> {
  const { memberships } = job
  const { transaction, now } = unit
  const made: NewFact[] = []
  const values = [Object.values(organizations), Object.values(users)]
  const there = new Set((await memberships.read<{ place: string }>(findMembers, values, transaction)).map(({ place }) => place))
  for (const [place, { slug, members }] of world.organizations.entries()) {
    // A session starts in the oldest membership, so the order here decides which organization is active.
    const at = new Date(now.getTime() + place)
    const organizationId = idOf(organizations, slug)
    for (const { email, roles } of members) {
      const userId = idOf(users, email)
      if (there.has(`${organizationId} ${userId}`)) continue
      const row = { organizationId, id: newId(at), userId, roles: [...roles], createdAt: at, updatedAt: at, createdBy }
      made.push(isAdded({ ...(await memberships.insert(row, transaction)), kind: 'human' }))
    }
  }
  await writeFacts(job, made, unit)
}

async function provideServiceAccounts(job: Job, { serviceAccounts = [] }: World, organizations: Ids, unit: WriteTransaction): Promise<void> {
  if (serviceAccounts.length === 0) return
  const { transaction, now } = unit
  const values = [Object.values(organizations), serviceAccounts.map(({ name }) => name)]
  const there = new Set((await job.users.read<{ place: string }>(findServiceAccounts, values, transaction)).map(({ place }) => place))
  for (const { organization, name, roles } of serviceAccounts) {
    const organizationId = idOf(organizations, organization)
    if (there.has(`${organizationId} ${name}`)) continue
    const account = { id: newId(now), name, email: null, emailVerified: false, kind: 'service_account', createdAt: now, updatedAt: now } as const
    const { id: userId } = await job.users.insert(account, transaction)
    const membership = { organizationId, id: newId(now), userId, roles: [...roles], createdAt: now, updatedAt: now, createdBy }
    await writeFacts(job, [isAdded({ ...(await job.memberships.insert(membership, transaction)), kind: 'service_account' })], unit)
  }
}

async function provideKeys(job: Job, world: World, users: Ids, organizations: Ids, { transaction, now }: WriteTransaction): Promise<Provisioned['keys']> {
  const present = await job.apiKeys.read(findKeys, [Object.values(organizations), world.keys.map(({ name }) => name)], transaction)
  const keys: Record<string, { id: string; secret: string | null }> = {}
  for (const { organization, name, scopes, createdBy, reissue } of world.keys) {
    const organizationId = idOf(organizations, organization)
    const there = present.find(row => row.organizationId === organizationId && row.name === name)
    if (there && !reissue) {
      keys[name] = { id: there.id, secret: null }
      continue
    }
    if (there) await job.apiKeys.update(there, { revokedAt: now, updatedAt: now, version: there.version + 1 }, transaction)
    const secret = writeKey(randomBytes(32))
    const facts = { organizationId, name, ...keptOf(secret), scopes: [...scopes].sort(), service: serviceOfAll(scopes) }
    const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${idOf(users, createdBy)}` }
    const { id } = await job.apiKeys.insert({ id: newId(now), ...facts, ...stamps }, transaction)
    keys[name] = { id, secret }
  }
  return keys
}

function idOf(ids: Ids, name: string): string {
  const id = ids[name]
  if (!id) throw new Error(`the world names ${name}, which is not in it`)
  return id
}
