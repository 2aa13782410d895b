import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { change, create, remove, write } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { AddSenderDomainInput, Resolvers, SuspendSenderDomainInput, VerifySenderDomainInput } from '../../resolvers.generated.ts'
import type { SenderDomainRow } from '../../stores/email/domain.ts'
import { factsOf } from './news.ts'
import { refusePublicSuffix } from './public-suffix.ts'
import { recordsOf } from './records.ts'
import { claimOf, hasLapsed, look, lookAgainMs, mostDomains, requireDomainName, requireKind, requireMailChanger, transitions } from './rules.ts'

const things = 'Sender domains'

/** The audit entry of a change. */
const lineOf = (tenantId: string, action: string, { id, domain, level }: SenderDomainRow) => ({
  tenantId,
  action: `sender_domain.${action}`,
  subjectId: id,
  details: { domain, level },
})

const isTaken = (): DomainError =>
  new DomainError(
    'CONFLICT',
    'Another organization has this domain: if it is yours, ask that organization to remove it, or try again once it has been unverified for a week.',
    {
      field: 'domain',
    },
  )

/** Releases a lapsed claim. @throws CONFLICT for a name that another organization has */
async function requireFree(context: Context, domain: string, organizationId: string | null, unit: WriteTransaction): Promise<void> {
  const present = await context.senderDomains.claimOf(domain, unit.transaction)
  if (!present) return
  if (present.organizationId === organizationId)
    throw new DomainError('CONFLICT', `${domain} is there already: see senderDomains for its records.`, { field: 'domain', id: present.id })
  if (!hasLapsed(present, unit.now)) throw isTaken()
  await context.senderDomains.remove(present, unit.transaction)
  await record(context, { ...lineOf(present.organizationId!, 'lapsed', present), actor: 'email' }, unit)
}

/** Adds a domain with a key of its own; once for each idempotency key. */
async function addSenderDomain(context: Context, input: AddSenderDomainInput): Promise<SenderDomainRow> {
  const { viewer, senderDomains } = context
  const tenantId = activeOrganization(viewer, things)
  const [level, kind] = [input.level ?? 'ORGANIZATION', input.kind ?? 'CUSTOM']
  if (level === 'PLATFORM') requireMailChanger(viewer)
  requireKind(kind, level)
  const domain = requireDomainName(input.domain)
  await refusePublicSuffix(domain)
  const organizationId = level === 'PLATFORM' ? null : tenantId
  const once = { ...input, level, kind }
  const { row } = await create(context, {
    of: senderDomains,
    once,
    tenantId,
    async run(unit, id) {
      const { now, transaction } = unit
      await requireFree(context, domain, organizationId, unit)
      const claimedAt = organizationId === null ? now : await senderDomains.claimedSince(organizationId, domain, now, transaction)
      if ((await senderDomains.countOf(organizationId, transaction)) >= mostDomains)
        throw new DomainError('CONFLICT', `There are ${mostDomains} sender domains, which is the limit: remove one first.`, { field: 'domain' })
      const keys = await keyPair()
      const key = { publicKey: keys.publicKey, privateKey: senderDomains.sealKey(id, keys.privateKey), selector: selectorOf(id) }
      const when = { claimedAt, nextCheckAt: new Date(now.getTime() + lookAgainMs), createdAt: now, updatedAt: now }
      return { id, level, organizationId, domain, kind, token: randomBytes(20).toString('hex'), ...key, ...when, createdBy: actorOf(viewer) }
    },
    audit: row => lineOf(tenantId, 'added', row),
  })
  return row
}

const selectorOf = (id: string): string => `sg${id.replaceAll('-', '').slice(-8)}`

const generate = promisify(generateKeyPair)

/** Generates the key of one domain's mails (RFC 6376 §3.3.3: RSA, which every receiver supports). */
export async function keyPair(): Promise<{ readonly publicKey: string; readonly privateKey: string }> {
  const { publicKey, privateKey } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKey: publicKey.toString('base64'), privateKey }
}

/**
 * Checks that a viewer may change a domain; the platform's are visible to others, so the error says that changing is
 * forbidden.
 */
async function requireChangeable({ viewer, senderDomains, platformOrganization }: Context, id: string): Promise<SenderDomainRow> {
  const row = await senderDomains.require(id)
  if (row.level === 'PLATFORM') {
    requireMailChanger(viewer)
    await platformOrganization.learn(activeOrganization(viewer, things))
  }
  return row
}

async function verifySenderDomain(context: Context, { id, expectedVersion }: VerifySenderDomainInput): Promise<SenderDomainRow> {
  const { viewer, senderDomains, mailing } = context
  const tenantId = activeOrganization(viewer, things)
  const seen = await requireChangeable(context, id)
  requireNotSuspended(seen)
  // The row is not locked while DNS servers are queried.
  const looked = await mailing.lookUp(recordsOf(seen, mailing.mailDomain))
  return change(context, {
    of: senderDomains,
    id,
    expectedVersion,
    decide(row, { now }) {
      requireNotSuspended(row)
      const found = look(row, looked)
      return { ...found, ...claimOf(row.status, found.status, now), lastCheckedAt: now, nextCheckAt: new Date(now.getTime() + lookAgainMs) }
    },
    audit: ({ before, after }) => (before.status === after.status ? null : lineOf(tenantId, after.status.toLowerCase(), after)),
    // Domains of the platform are visible to platform admins only.
    facts: ({ before, after }) => factsOf(before, after, context, tenantId),
  })
}

function requireNotSuspended({ status }: SenderDomainRow): void {
  if (status === 'SUSPENDED') throw new DomainError('CONFLICT', 'This domain was suspended by an admin of the platform: ask one of them.', { status })
}

/** Suspends any organization's domain, or lifts the suspension. */
const suspendSenderDomain = (context: Context, input: SuspendSenderDomainInput): Promise<SenderDomainRow> => {
  const { viewer, senderDomains, mailing: _ } = context
  const tenantId = activeOrganization(viewer, things)
  const id = requireId(input.id, 'id')
  return write(context, {
    async run({ transaction, now }) {
      const before = await senderDomains.anyById(id, transaction)
      if (!before) throw notFound('sender domain', id)
      if (input.expectedVersion !== null && input.expectedVersion !== undefined && input.expectedVersion !== before.version)
        throw new DomainError('CONFLICT', `The sender domain is at version ${before.version}: read it again.`, {
          reason: 'STALE_VERSION',
          version: before.version,
        })
      const moves: Readonly<Record<string, SenderDomainRow['status']>> = transitions[before.status]
      const status = moves[input.suspended ? 'suspend' : 'restore']
      if (!status) return { before, after: before }
      // A domain whose suspension ends is looked up at once.
      const changes = { status, ...claimOf(before.status, status, now), nextCheckAt: now, updatedAt: now, version: before.version + 1 }
      return { before, after: await senderDomains.update(before, changes, transaction) }
    },
    audit: ({ before, after }) => (before === after ? null : lineOf(after.organizationId ?? tenantId, input.suspended ? 'suspended' : 'restored', after)),
    facts: ({ before, after }) => factsOf(before, after, context),
  }).then(({ after }) => after)
}

export const domainResolvers: Resolvers = {
  Query: {
    senderDomain: (_, { id }, { viewer, senderDomains }) => {
      activeOrganization(viewer, things)
      return senderDomains.require(id)
    },
    senderDomains: (_, __, { viewer, senderDomains }) => senderDomains.seenBy(activeOrganization(viewer, things)),
  },
  Mutation: {
    addSenderDomain: (_, { input }, context) => addSenderDomain(context, input),
    verifySenderDomain: (_, { input }, context) => verifySenderDomain(context, input),
    async removeSenderDomain(_, { input: { id, expectedVersion } }, context) {
      const tenantId = activeOrganization(context.viewer, things)
      await requireChangeable(context, id)
      return remove(context, {
        of: context.senderDomains,
        id,
        expectedVersion,
        audit: row => lineOf(tenantId, 'removed', row),
        facts: row => factsOf(row, null, context),
      })
    },
    suspendSenderDomain: (_, { input }, context) => suspendSenderDomain(context, input),
  },
  SenderDomain: {
    __resolveReference: ({ id }, { senderDomains }) => senderDomains.byId.load(id),
    organization: ({ organizationId }) => (organizationId ? { __typename: 'Organization', id: organizationId } : null),
    records: (row, _, { mailing }) => recordsOf(row, mailing.mailDomain).map(each => ({ ...each, status: row.seen[each.purpose] ?? 'MISSING' })),
  },
}
