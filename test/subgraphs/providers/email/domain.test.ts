import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { lookUp } from '../../../../subgraphs/providers/email/domain/look.ts'
import { createLookUp } from '../../../../subgraphs/providers/email/domain/lookup.ts'
import { recordsOf } from '../../../../subgraphs/providers/email/domain/records.ts'
import { transitions, unprovenMs } from '../../../../subgraphs/providers/email/domain/rules.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { seedDomain, seedIdentity, seedMessage } from './seed.ts'
import { sendingWorld, twins } from './sending.ts'

const fields = 'id domain status level kind lastCheckedAt version organization { id } records { purpose type host value status }'
const mutation = (name: string, selection = fields) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const ask = (graph: Supergraph, as: Viewer, name: string, input: object, selection?: string) => graph.execute(mutation(name, selection), { input }, { as })

interface WantedRecord {
  readonly purpose: string
  readonly type: string
  readonly host: string
  readonly value: string
  readonly status: string
}

test('G-07 a domain is PENDING until all records are found, FAILED when one is missing, VERIFIED when it is back; managers are notified', async () => {
  const dns = await twins()
  await using graph = await supergraph({ email: { dnsServers: [dns.sandbox.dns!.address], domain: 'gateway.example' } })
  const { owner } = await graph.seed.owner()
  const added = (await ask(graph, owner, 'addSenderDomain', { domain: 'Mail.BÜCHER.example.' })).data().addSenderDomain
  expect(added).toMatchObject({ domain: 'mail.xn--bcher-kva.example', status: 'PENDING', level: 'ORGANIZATION', kind: 'CUSTOM', lastCheckedAt: null })
  const records = added.records as readonly WantedRecord[]
  expect(records.map(({ purpose }) => purpose)).toEqual(['OWNERSHIP', 'SPF', 'DKIM', 'DMARC', 'RETURN_PATH'])
  expect(new Set(records.map(({ host, type }) => `${host} ${type}`)).size).toBe(5)
  const verify = async () => (await ask(graph, owner, 'verifySenderDomain', { id: added.id })).data().verifySenderDomain
  expect(await verify()).toMatchObject({ status: 'PENDING' })
  for (const { host, type, value } of records) await dns.record(host, type, value)
  const statuses = async () => Object.fromEntries(((await verify()).records as readonly WantedRecord[]).map(({ purpose, status }) => [purpose, status]))
  expect(await statuses()).toEqual({ OWNERSHIP: 'FOUND', SPF: 'FOUND', DKIM: 'FOUND', DMARC: 'FOUND', RETURN_PATH: 'FOUND' })
  // Others may send for it too, and its policy is its owner's; two of SPF make each other void.
  const [, spf] = records as readonly [WantedRecord, WantedRecord]
  await dns.record(spf.host, 'TXT', ['v=spf1 include:other.example include:_spf.gateway.example -all', 'google-site-verification=x'])
  await dns.record('_dmarc.mail.xn--bcher-kva.example', 'TXT', 'v=DMARC1; p=reject; rua=mailto:d@example.com')
  expect((await verify()).status).toBe('VERIFIED')
  await dns.record(spf.host, 'TXT', ['v=spf1 include:_spf.gateway.example ~all', 'v=spf1 -all'])
  expect(await verify()).toMatchObject({ status: 'FAILED', records: expect.arrayContaining([expect.objectContaining({ purpose: 'SPF', status: 'WRONG' })]) })
  await dns.record(spf.host, 'TXT', spf.value)
  expect((await verify()).status).toBe('VERIFIED')
  // The daily look does the same, of its own accord.
  await dns.record(records[0]!.host, 'TXT', null)
  const job = graph.platform.providers.job('email')
  await lookUp(job, added.id, { warn() {} })
  const now = async () =>
    (await graph.execute('query($id: ID!) { senderDomain(id: $id) { status } }', { id: added.id }, { as: owner })).data().senderDomain.status
  expect(await now()).toBe('FAILED')
  expect((await ask(graph, owner, 'removeSenderDomain', { id: added.id }, 'id')).data()).toBeDefined()
  const told = await graph.rows<{ kind: string; body: { kind?: string; audience?: string } }>(
    `select kind, body from providers.facts where subject = 'attention:sender-domain:' || $1 order by seq`,
    [added.id],
  )
  expect(told.map(({ kind }) => kind)).toEqual(['attention.opened', 'attention.closed', 'attention.opened', 'attention.closed'])
  expect(told[0]!.body).toMatchObject({ kind: 'SENDER_DOMAIN_FAILED', audience: 'managers' })
})

test('a server of DNS that answers with an error is no news of a domain', async () => {
  const dns = await twins()
  await using graph = await supergraph({ email: { dnsServers: [dns.sandbox.dns!.address] } })
  const { owner } = await graph.seed.owner()
  const { id } = await seedDomain(graph, { organizationId: owner.organizationId! })
  await dns.armDns({ fault: 'status', status: 503, times: 100 })
  const answer = (await ask(graph, owner, 'verifySenderDomain', { id })).data().verifySenderDomain
  expect(answer.status).toBe('VERIFIED')
})

test.each([
  'status',
  'timeout-after-accept',
  'malformed',
  'accept-then-reset',
])('of a server of DNS that answers with %s nothing is known of any record', async fault => {
  const dns = await twins()
  const wanted = recordsOf({ domain: 'silent.example', token: 'x', publicKey: 'y', selector: 's' } as never, 'gateway.example')
  expect(wanted).toHaveLength(5)
  await dns.armDns({ fault, times: 100, ...(fault === 'status' && { status: 503 }) })
  expect(await createLookUp([dns.sandbox.dns!.address], { timeout: 150, tries: 2 })(wanted)).toEqual({})
})

test('a domain belongs to one organization; an unproven claim ends after a week, with an audit entry', async () => {
  await using graph = await supergraph()
  const { owner, outsider } = await graph.seed.owner().outsider()
  const add = (as: Viewer) => ask(graph, as, 'addSenderDomain', { domain: 'shared.example' }, 'id')
  const twenty = await Promise.all(Array.from({ length: 20 }, (_, at) => add(at % 2 ? owner : outsider)))
  expect(twenty.filter(({ error }) => !error)).toHaveLength(1)
  for (const each of twenty.filter(({ error }) => error)) each.refused('CONFLICT')
  const [{ by }] = (await graph.rows('select organization_id as by from providers.sender_domains')) as [{ by: string }]
  const [first, other] = by === owner.organizationId ? [owner, outsider] : [outsider, owner]
  await graph.clock.advance(unprovenMs - 1)
  ;(await add(other)).refused('CONFLICT')
  await graph.clock.advance(1)
  ;(await add(other)).data()
  expect(await graph.rows(`select tenant_id as tenant from providers.audit_entries where action = 'sender_domain.lapsed'`)).toEqual([
    { tenant: first.organizationId },
  ])
  // One that is proven stays, however old.
  await graph.rows(`update providers.sender_domains set status = 'VERIFIED'`)
  await graph.clock.advance(10 * unprovenMs)
  ;(await add(first)).refused('CONFLICT')
})

test('a claim counts from when it was first made, however often it is removed and made again', async () => {
  await using graph = await supergraph()
  const { owner, outsider } = await graph.seed.owner().outsider()
  const add = (as: Viewer) => ask(graph, as, 'addSenderDomain', { domain: 'held.example' }, 'id')
  for (let day = 0; day < 7; day++) {
    const { id } = (await add(owner)).data().addSenderDomain
    ;(await add(outsider)).refused('CONFLICT')
    await graph.clock.advance(unprovenMs / 7)
    ;(await ask(graph, owner, 'removeSenderDomain', { id }, 'id')).data()
  }
  ;(await add(owner)).data()
  ;(await add(outsider)).data()
  ;(await add(owner)).refused('CONFLICT')
})

test('a domain whose records are missing for a week can be claimed by others; one whose records return cannot', async () => {
  const dns = await twins()
  await using graph = await supergraph({ email: { dnsServers: [dns.sandbox.dns!.address] } })
  const { owner, outsider } = await graph.seed.owner().outsider()
  const { id } = await seedDomain(graph, { organizationId: owner.organizationId!, domain: 'sold.example' })
  await graph.clock.advance(10 * unprovenMs)
  const add = () => ask(graph, outsider, 'addSenderDomain', { domain: 'sold.example' }, 'id')
  expect((await ask(graph, owner, 'verifySenderDomain', { id })).data().verifySenderDomain.status).toBe('FAILED')
  await graph.clock.advance(unprovenMs - 1)
  // Looking again, in vain, begins nothing anew.
  expect((await ask(graph, owner, 'verifySenderDomain', { id })).data().verifySenderDomain.status).toBe('FAILED')
  ;(await add()).refused('CONFLICT')
  await graph.clock.advance(1)
  ;(await add()).data()
  expect(await graph.rows('select from providers.sender_domains where id = $1', [id])).toEqual([])
})

test('a suspended domain of any organization sends nothing and is not verified until the suspension ends', async () => {
  const dns = await twins()
  const world = await sendingWorld(null, { dnsServers: [dns.sandbox.dns!.address], domain: 'gateway.example' })
  const { graph, owner } = world
  const admin = person(newId(), newId(), ['admin', 'platform_admin'])
  const domain = await seedDomain(graph, { organizationId: owner.organizationId!, domain: 'loud.example' })
  const { id: identityId } = await seedIdentity(graph, domain)
  const input = { id: domain.id, suspended: true }
  const suspend = async (suspended: boolean) =>
    (await ask(graph, admin, 'suspendSenderDomain', { ...input, suspended }, 'status')).data().suspendSenderDomain.status
  const waiting = await world.send({ identityId })
  expect(await suspend(true)).toBe('SUSPENDED')
  ;(await world.trySend({ identityId })).refused('CONFLICT')
  ;(await ask(graph, owner, 'verifySenderDomain', { id: domain.id })).refused('CONFLICT')
  await world.tryAll()
  expect((await world.read(waiting.id)).status).not.toBe('SENT')
  await graph.clock.advance(10 * unprovenMs)
  const others = ask(graph, world.outsider, 'addSenderDomain', { domain: 'loud.example' }, 'id')
  ;(await others).refused('CONFLICT')
  expect(await suspend(false)).toBe('PENDING')
  ;(await world.trySend({ identityId })).refused('CONFLICT')
  for (const { host, type, value } of recordsOf(domain, 'gateway.example')) await dns.record(host, type, value)
  await lookUp(graph.platform.providers.job('email'), domain.id, { warn() {} })
  expect((await world.send({ identityId })).status).toBe('QUEUED')
  expect(await graph.rows('select action, tenant_id as tenant from providers.audit_entries where subject_id = $1', [domain.id])).toEqual(
    expect.arrayContaining(['suspended', 'restored'].map(what => ({ action: `sender_domain.${what}`, tenant: owner.organizationId }))),
  )
})

test('a failing domain of the platform notifies the platform’s administrators', async () => {
  const dns = await twins()
  await using graph = await supergraph({ email: { dnsServers: [dns.sandbox.dns!.address] } })
  const { id } = await seedDomain(graph, { organizationId: null, domain: 'platform.test' })
  const admins = newId()
  await graph.platform.providers.job('test').platformOrganization.learn(admins)
  await lookUp(graph.platform.providers.job('email'), id, { warn() {} })
  expect(await graph.rows(`select kind, body->>'organizationId' as of from providers.facts where subject = 'attention:sender-domain:' || $1`, [id])).toEqual([
    { kind: 'attention.opened', of: admins },
  ])
})

describe('an invalid domain name', () => {
  const world = shared(() => supergraph())
  test.each([
    'example',
    'localhost',
    'mail.local',
    '192.0.2.1',
    'a..example.com',
    '-a.example.com',
    'exa mple.com',
    'exam\r\nple.com',
    'exam\tple.com',
    `${'a'.repeat(64)}.com`,
    'x@example.com',
    '',
  ])('%j is no domain to send from', async domain => {
    const { owner } = await world().seed.owner()
    ;(await ask(world(), owner, 'addSenderDomain', { domain }, 'id')).refused('BAD_USER_INPUT')
  })
})

test('G-07 everyone sees the platform’s domains and super admins change them; platform admins suspend any domain', async () => {
  await using graph = await supergraph()
  const { owner, outsider } = await graph.seed.owner().outsider()
  const platforms = await seedDomain(graph, { organizationId: null, domain: 'platform.test' })
  const { organizationId } = owner
  const changer = person(owner.userId!, organizationId!, ['owner', 'platform_super_admin'])
  const list = async (as: Viewer) => (await graph.execute('{ senderDomains { id } }', {}, { as })).data().senderDomains.map(({ id }: { id: string }) => id)
  expect([await list(owner), await list(outsider)]).toEqual([[platforms.id], [platforms.id]])
  for (const name of ['verifySenderDomain', 'removeSenderDomain']) (await ask(graph, owner, name, { id: platforms.id }, 'id')).refused('FORBIDDEN')
  ;(await ask(graph, owner, 'createSenderIdentity', { domainId: platforms.id, localPart: 'ceo' }, 'id')).refused('FORBIDDEN')
  const platform = { domain: 'other.example', level: 'PLATFORM', kind: 'PLATFORM_EMAIL' }
  ;(await ask(graph, owner, 'addSenderDomain', platform, 'id')).refused('FORBIDDEN')
  ;(await ask(graph, owner, 'addSenderDomain', { domain: 'other.example', kind: 'PLATFORM_EMAIL' }, 'id')).refused('BAD_USER_INPUT')
  expect((await ask(graph, changer, 'addSenderDomain', platform)).data().addSenderDomain).toMatchObject({ level: 'PLATFORM', organization: null })
  const theirs = await seedDomain(graph, { organizationId: outsider.organizationId! })
  ;(await ask(graph, owner, 'verifySenderDomain', { id: theirs.id }, 'id')).refused('NOT_FOUND')
  const mail = await seedMessage(graph, theirs, outsider.organizationId!)
  ;(await graph.execute('query($id: ID!) { emailMessage(id: $id) { id } }', { id: mail.id }, { as: owner })).refused('NOT_FOUND')
})

test('every transition of a domain’s state machine can occur', () => {
  const reached = new Set(Object.values(transitions).flatMap(verbs => Object.values(verbs)))
  expect([...reached].sort()).toEqual(['FAILED', 'PENDING', 'SUSPENDED', 'VERIFIED'])
})
