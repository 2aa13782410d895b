import { randomBytes } from 'node:crypto'
import { QueryTypes, type Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import type { Scope } from '../../scopes.ts'
import { hashKey, prefixOf, writeKey } from '../api-key/rules.ts'
import { insertAccounts } from '../credentials/accounts.ts'
import { isMailAddress, mailAddressSentence } from '../credentials/mail-address.ts'
import type { Role } from '../membership/rules.ts'
import type { Tables } from '../tables.ts'

/** Who and what shall be there. People are known by address, organizations by slug, keys by name within theirs. */
export interface World {
  /** The password of every person who is not there yet; it is hashed once. */
  readonly password: string
  readonly people: readonly { readonly email: string; readonly name: string }[]
  readonly organizations: readonly {
    readonly slug: string
    readonly name: string
    readonly members: readonly { readonly email: string; readonly roles: readonly Role[] }[]
  }[]
  readonly keys: readonly {
    /** Slug of its organization. */
    readonly organization: string
    readonly name: string
    readonly scopes: readonly Scope[]
    /** Address of the person who made it. */
    readonly createdBy: string
    /** Revokes the key of this name that is there, and makes another. @default false */
    readonly reissue?: boolean
  }[]
}

/** Ids of everything in the world, new or found. */
export interface Provisioned {
  /** By address. */
  readonly users: Readonly<Record<string, string>>
  /** By slug. */
  readonly organizations: Readonly<Record<string, string>>
  /** By name; `secret` is the clear text of a key that was made now, null for one that was there. */
  readonly keys: Readonly<Record<string, { readonly id: string; readonly secret: string | null }>>
}

/** Serialises those who provision; any number that nothing else in this database locks. */
const provisionLock = 7_301_443

/**
 * Makes what is missing of a world, in one transaction, and leaves alone what is there: passwords, names and roles that people
 * have changed meanwhile stay. Past its first time it costs six statements.
 */
export function provision(tables: Tables, world: World, now: Date): Promise<Provisioned> {
  return tables.sequelize.transaction(transaction => provisionWithin(tables, world, now, transaction))
}

/** The same within a transaction of the caller's. */
export async function provisionWithin(tables: Tables, world: World, now: Date, transaction: Transaction): Promise<Provisioned> {
  const wrong = world.people.find(({ email }) => !isMailAddress(email))
  if (wrong) throw new Error(`the world has a person at ${wrong.email}, where nobody could sign in: an address is ${mailAddressSentence}`)
  await tables.sequelize.query('select pg_advisory_xact_lock($1::bigint)', { type: QueryTypes.SELECT, bind: [provisionLock], transaction })
  const users = await providePeople(tables, world, now, transaction)
  const organizations = await provideOrganizations(tables, world, now, transaction)
  await provideMemberships(tables, world, users, organizations, now, transaction)
  const keys = await provideKeys(tables, world, users, organizations, now, transaction)
  return { users, organizations, keys }
}

async function providePeople({ users, sequelize }: Tables, { people, password }: World, now: Date, transaction: Transaction) {
  const present = await users.findAll({ attributes: ['id', 'email'], where: { email: people.map(({ email }) => email) }, raw: true, transaction })
  const ids = Object.fromEntries(present.map(({ email, id }) => [email, id]))
  const missing = people
    .filter(({ email }) => !ids[email])
    .map(({ email, name }) => ({ id: newId(now), email, name, emailVerified: true, createdAt: now, updatedAt: now }))
  if (missing.length === 0) return ids
  await users.bulkCreate(missing, { transaction, returning: false })
  const userIds = missing.map(({ id }) => id)
  await insertAccounts(sequelize, userIds, password, now, transaction)
  return { ...ids, ...Object.fromEntries(missing.map(({ email, id }) => [email, id])) }
}

async function provideOrganizations({ organizations }: Tables, world: World, now: Date, transaction: Transaction) {
  const slugs = world.organizations.map(({ slug }) => slug)
  const present = await organizations.findAll({ attributes: ['id', 'slug'], where: { slug: slugs }, raw: true, transaction })
  const ids = Object.fromEntries(present.map(({ slug, id }) => [slug, id]))
  const missing = world.organizations
    .filter(({ slug }) => !ids[slug])
    .map(({ slug, name }) => ({ id: newId(now), slug, name, version: 1, createdAt: now, updatedAt: now, createdBy: null }))
  if (missing.length > 0) await organizations.bulkCreate(missing, { transaction, returning: false })
  return { ...ids, ...Object.fromEntries(missing.map(({ slug, id }) => [slug, id])) }
}

type Ids = Readonly<Record<string, string>>

async function provideMemberships({ memberships }: Tables, world: World, users: Ids, organizations: Ids, now: Date, transaction: Transaction): Promise<void> {
  const present = await memberships.findAll({
    attributes: ['organizationId', 'userId'],
    where: { organizationId: Object.values(organizations), userId: Object.values(users) },
    raw: true,
    transaction,
  })
  const there = new Set(present.map(({ organizationId, userId }) => `${organizationId} ${userId}`))
  const missing = world.organizations.flatMap(({ slug, members }, place) => {
    // A sign-in begins in the oldest membership: the order of the world decides which that is.
    const at = new Date(now.getTime() + place)
    const stamps = { version: 1, createdAt: at, updatedAt: at, createdBy: null }
    const organizationId = idOf(organizations, slug)
    return members.map(({ email, roles }) => ({ organizationId, id: newId(at), userId: idOf(users, email), roles: [...roles], ...stamps }))
  })
  const rows = missing.filter(({ organizationId, userId }) => !there.has(`${organizationId} ${userId}`))
  if (rows.length > 0) await memberships.bulkCreate(rows, { transaction, returning: false })
}

async function provideKeys({ apiKeys }: Tables, world: World, users: Ids, organizations: Ids, now: Date, transaction: Transaction) {
  const present = await apiKeys.findAll({
    attributes: ['id', 'name', 'organizationId'],
    where: { organizationId: Object.values(organizations), name: world.keys.map(({ name }) => name), revokedAt: null },
    raw: true,
    transaction,
  })
  const keys: Record<string, { id: string; secret: string | null }> = {}
  for (const { organization, name, scopes, createdBy, reissue } of world.keys) {
    const organizationId = idOf(organizations, organization)
    const there = present.find(row => row.organizationId === organizationId && row.name === name)
    if (there && !reissue) {
      keys[name] = { id: there.id, secret: null }
      continue
    }
    if (there) await apiKeys.update({ revokedAt: now, updatedAt: now }, { where: { organizationId, id: there.id }, transaction })
    const id = newId(now)
    const secret = writeKey(randomBytes(32))
    const stamps = { version: 1, createdAt: now, updatedAt: now, createdBy: idOf(users, createdBy) }
    const facts = { hash: hashKey(secret), prefix: prefixOf(secret), scopes: [...scopes].sort(), expiresAt: null, idempotencyKey: null }
    await apiKeys.create({ organizationId, id, name, ...facts, ...stamps }, { transaction, returning: false })
    keys[name] = { id, secret }
  }
  return keys
}

function idOf(ids: Ids, name: string): string {
  const id = ids[name]
  if (!id) throw new Error(`the world names ${name}, which is not in it`)
  return id
}
