import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { max } from '../../../../subgraphs/launcher/notification/push/rules.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { dies } from '../../../kit/dies.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key } from '../../../kit/viewers.ts'
import { seedAttention } from '../action-item/seed.ts'
import { steer } from '../catalog/seed.ts'
import { openBrowser, type PushedMessage, signedBy } from './browser.ts'

/** A push service that never answers. */
const silent = createServer(() => {})
let graph: Supergraph
let door: Door
let owner: Viewer
let member: Viewer
beforeAll(async () => {
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  graph = await supergraph({ sandbox: true, trusts: [silentOrigin()] })
  door = await openDoor(graph)
})
beforeEach(async () => {
  await graph.rows('delete from launcher.push_subscriptions')
  await steer(graph, 'faults', { network: 'push', fault: 'none' })
  ;({ owner, member } = await graph.seed.owner().member())
})
afterAll(async () => {
  silent.closeAllConnections()
  silent.close()
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const silentOrigin = () => `http://localhost:${(silent.address() as AddressInfo).port}`
const add = (as: Viewer, input: object) =>
  graph.execute('mutation($input: AddPushSubscriptionInput!) { addPushSubscription(input: $input) { id createdAt } }', { input }, { as })
const added = async (as: Viewer, input: object): Promise<string> => (await add(as, input)).data().addPushSubscription.id
const remove = (as: Viewer, id: string) => graph.execute('mutation($id: ID!) { removePushSubscription(input: { id: $id }) { id } }', { id }, { as })
const browser = () => openBrowser(graph.x.origin, newId())
const received = async ({ id }: { id: string }): Promise<readonly PushedMessage[]> =>
  (await steer<readonly PushedMessage[]>(graph, 'received?network=push')).filter(each => each.id === id)
const subscriptions = () => graph.rows<{ id: string }>('select id from launcher.push_subscriptions')
const messages = () => graph.rows<{ attempts: number }>('select attempts from launcher.messages')
const sent = () => expect.poll(messages, { timeout: 10_000 }).toEqual([])
const { sweep } = { sweep: () => graph.platform.launcher.at.services.push.sweep(() => graph.platform.launcher.job('test')).run() }
const waiting = (as: Viewer, more: object = {}) => seedAttention(graph, { organizationId: as.organizationId!, kind: 'POST_FAILED', ...more })

describe('a push message', () => {
  it('arrives encrypted for the browser, signed with the published key, and says what waits', async () => {
    const [own, others] = [browser(), browser()]
    await added(owner, own.subscription)
    await added(member, others.subscription)
    const { id } = await waiting(owner, { audience: 'managers', title: 'A post failed' })
    await expect.poll(() => received(own), { timeout: 10_000 }).toHaveLength(1)
    await sent()
    const [message, ...more] = await received(own)
    expect([more, await received(others)]).toEqual([[], []])
    expect(own.open(message!)).toEqual({ id, kind: 'POST_FAILED', title: 'A post failed', url: 'http://localhost:4000/publishing/posts/1' })
    expect(message!.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: expect.stringMatching(/^\d+$/),
      urgency: 'high',
      topic: id.replaceAll('-', ''),
    })
    expect(Buffer.from(message!.body, 'base64').includes('post')).toBe(false)
    const { json } = await door.ask('GET', '/launcher/api/push/key')
    expect(signedBy(message!)).toMatchObject({ key: json.publicKey, claims: { aud: graph.x.origin, sub: 'mailto:ops@example.test' } })
  })

  it('comes to each browser of a person, and not for what is NORMAL', async () => {
    const browsers = [browser(), browser()]
    for (const each of browsers) await added(member, each.subscription)
    await waiting(member, { severity: 'NORMAL', title: 'Quietly' })
    await waiting(member, { title: 'Loudly' })
    for (const each of browsers) await expect.poll(() => received(each), { timeout: 10_000 }).toHaveLength(1)
    await sent()
    for (const each of browsers) expect((await received(each)).map(message => each.open(message).title)).toEqual(['Loudly'])
  })

  it.each([{ fault: 'gone' }, { fault: 'status', status: 404 }])('ends the subscription when its service says that it has ended: %o', async fault => {
    const own = browser()
    await added(owner, own.subscription)
    await steer(graph, 'faults', { network: 'push', ...fault, times: 1 })
    await waiting(owner)
    await expect.poll(subscriptions, { timeout: 10_000 }).toEqual([])
    expect([await messages(), await received(own)]).toEqual([[], []])
  })

  it('waits while the name of its service cannot be resolved: the subscription has not ended', async () => {
    const own = browser()
    const id = await added(owner, own.subscription)
    const sealed = graph.platform.launcher.at.services.push.seal(id, { ...own.subscription, endpoint: 'https://push.invalid/1' })
    await graph.rows('update launcher.push_subscriptions set sealed = $1', [sealed])
    await waiting(owner)
    const due = () => graph.rows('select from launcher.messages where attempts = 1 and next_attempt_at = $1', [graph.clock.in(10_000)])
    await expect.poll(due, { timeout: 20_000 }).toHaveLength(1)
    expect(await subscriptions()).toEqual([{ id }])
  })

  it.each([429, 503])('is sent again when its service answers %i', async status => {
    const own = browser()
    await added(owner, own.subscription)
    await steer(graph, 'faults', { network: 'push', fault: 'status', status, times: 1 })
    await waiting(owner, { title: 'Again' })
    const due = () => graph.rows('select from launcher.messages where attempts = 1 and next_attempt_at = $1', [graph.clock.in(10_000)])
    await expect.poll(due, { timeout: 10_000 }).toHaveLength(1)
    await graph.clock.advance(10_000)
    await sweep()
    await sent()
    expect((await received(own)).map(message => own.open(message).title)).toEqual(['Again'])
  })

  it('is sent again when a process dies after the answer, and given up when it is refused for what it is', async () => {
    const own = browser()
    await added(owner, own.subscription)
    await dies('launcher-push-answered', async () => {
      await waiting(owner)
      await expect.poll(() => received(own), { timeout: 10_000 }).toHaveLength(1)
    })
    expect(await messages()).toEqual([{ attempts: 1 }])
    await steer(graph, 'faults', { network: 'push', fault: 'status', status: 400, times: 1 })
    await graph.clock.advance(60_000)
    await sweep()
    await sent()
    expect([(await subscriptions()).length, (await received(own)).length]).toEqual([1, 1])
  })

  it('waits for no service of another organization that never answers', async () => {
    const { owner: other } = await graph.seed.owner()
    for (let n = 0; n < max.subscriptions; n += 1) await added(other, openBrowser(silentOrigin(), newId()).subscription)
    const own = browser()
    await added(owner, own.subscription)
    for (let n = 0; n < 3; n += 1) await waiting(other)
    await expect.poll(messages, { timeout: 10_000 }).toHaveLength(3 * max.subscriptions)
    await waiting(owner, { title: 'At once' })
    await expect.poll(async () => (await received(own)).length, { timeout: 3_000 }).toBe(1)
  })
})

describe('addPushSubscription', () => {
  it('answers the first again, and moves a browser to the person who signs in with it now', async () => {
    const own = browser()
    const id = await added(owner, own.subscription)
    expect(await added(owner, own.subscription)).toBe(id)
    expect(await added(owner, { ...own.subscription, idempotencyKey: newId() })).toBe(id)
    expect(await added(member, own.subscription)).not.toBe(id)
    ;(await remove(owner, id)).refused('NOT_FOUND')
    const [row, ...others] = await graph.rows<{ user_id: string; sealed: string }>('select * from launcher.push_subscriptions')
    expect([row!.user_id, others]).toEqual([member.userId, []])
    expect(row!.sealed).not.toContain(own.id)
  })

  it('takes another endpoint’s keys for another browser, and leaves the first to its person', async () => {
    const own = browser()
    const id = await added(owner, own.subscription)
    await added(member, { ...browser().subscription, endpoint: own.subscription.endpoint })
    expect((await subscriptions()).map(each => each.id)).toContain(id)
  })

  it('refuses the 21st, private addresses, wrong keys, and keys of the API', async () => {
    for (let n = 0; n < max.subscriptions; n += 1) await added(owner, browser().subscription)
    expect((await add(owner, browser().subscription)).refused('CONFLICT').extensions.reason).toBe('LIMIT')
    for (const [field, more] of [
      ['endpoint', { endpoint: 'https://169.254.169.254/push' }],
      ['endpoint', { endpoint: 'http://localhost:1/push' }],
      ['endpoint', { endpoint: 'http://push.example/1' }],
      ['p256dh', { p256dh: 'AAAA' }],
      ['auth', { auth: 'AAAA' }],
    ] as const)
      expect((await add(member, { ...browser().subscription, ...more })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    const program = key(owner.organizationId!, ['launcher:notifications.read', 'launcher:notifications.write'])
    ;(await add(program, browser().subscription)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })
})

describe('removePushSubscription', () => {
  it('ends one of the viewer with what waits for it, and nobody else’s', async () => {
    const id = await added(owner, openBrowser(silentOrigin(), newId()).subscription)
    ;(await remove(member, id)).refused('NOT_FOUND')
    await waiting(owner)
    await expect.poll(messages, { timeout: 10_000 }).toHaveLength(1)
    expect((await remove(owner, id)).data().removePushSubscription).toEqual({ id })
    expect([await subscriptions(), await messages()]).toEqual([[], []])
  })
})

describe('a suspended person', () => {
  it('is sent nothing any more', async () => {
    await added(member, browser().subscription)
    const fact = {
      id: newId(),
      from: 'identity',
      kind: 'user.suspended',
      subject: `user:${member.userId}`,
      at: graph.clock.now(),
      body: { userId: member.userId! },
    }
    expect(await graph.platform.launcher.receive!(fact)).toBe('received')
    expect(await subscriptions()).toEqual([])
  })
})
