import { randomBytes, randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { takeOpen } from '../../../../subgraphs/launcher/notification/inbound/take.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { notificationSecret } from '../../../kit/stand-in.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { steer } from '../catalog/seed.ts'

let graph: Supergraph
let door: Door
let owner: Viewer
let member: Viewer
let organizationId: string
beforeAll(async () => {
  graph = await supergraph({ sandbox: true, notificationService: true })
  door = await openDoor(graph)
})
beforeEach(async () => {
  await steer(graph, 'faults', { network: 'notifications', fault: 'none' })
  await graph.clock.advance(1_000)
  ;({ owner, member } = await graph.seed.owner().member())
  organizationId = owner.organizationId!
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const path = '/launcher/api/notifications/events'
const selection = 'id key kind title status severity url subject { service id }'
const listed = async (as: Viewer, status = 'OPEN') =>
  (await graph.execute(`{ actionItems(app: "notifications", status: [${status}]) { nodes { ${selection} } } }`, {}, { as })).data().actionItems.nodes
const change = (as: Viewer, name: 'complete' | 'reopen', id: string, more: object = {}) =>
  graph.execute(
    `mutation($input: ${name === 'complete' ? 'Complete' : 'Reopen'}ActionItemInput!) { ${name}ActionItem(input: $input) { status closedBy { id } } }`,
    { input: { id, ...more } },
    { as },
  )
const completions = async (id: string) =>
  (await steer<readonly { id: string; userId: string }[]>(graph, 'received?network=notifications')).filter(each => each.id === id)

/** Sends a message as the service does. @returns the status of the answer */
async function send(
  type: string,
  data: object,
  more: { id?: string; signature?: 'good' | 'bad'; ageSeconds?: number; timestamp?: string } = {},
): Promise<number> {
  const { timestamp = graph.clock.now().toISOString(), ...marks } = more
  const { id = randomUUID(), signature = 'good', ageSeconds = 0 } = marks
  const body = { type, timestamp, data: { organizationId, title: 'Sign the contract', at: timestamp, ...data } }
  const at = graph.clock.in(-ageSeconds * 1_000)
  const secret = signature === 'good' ? notificationSecret : `whsec_${randomBytes(32).toString('base64')}`
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, JSON.stringify(body)),
  }
  return (await door.ask('POST', path, { headers, body })).status
}

describe('a message of the notification service', () => {
  it('puts an item into the queue once, changes and closes it', async () => {
    const [id, message] = [randomUUID(), randomUUID()]
    const opened = () => send('item.opened', { id, kind: 'CONTRACT', severity: 'HIGH' }, { id: message })
    expect(await Promise.all([opened(), opened(), send('item.opened', { id, kind: 'CONTRACT', severity: 'HIGH' })])).toEqual([204, 204, 204])
    expect(await listed(member)).toMatchObject([
      {
        ...{ key: id, kind: 'CONTRACT', severity: 'HIGH', title: 'Sign the contract', url: 'http://localhost:4000/launcher/actions' },
        subject: { service: 'notifications', id },
      },
    ])
    await graph.clock.advance(1_000)
    expect(await send('item.opened', { id, title: 'Sign it today', url: 'https://contracts.test/1' })).toBe(204)
    expect(await listed(owner)).toMatchObject([{ title: 'Sign it today', url: 'https://contracts.test/1' }])
    expect(await send('item.closed', { id })).toBe(204)
    expect([await listed(owner), (await listed(owner, 'RESOLVED')).length]).toEqual([[], 1])
  })

  it('belongs to one person where it names one', async () => {
    const personal = randomUUID()
    expect(await send('item.opened', { id: randomUUID(), userId: member.userId })).toBe(204)
    expect(await send('item.opened', { id: personal, userId: member.userId, organizationId: null })).toBe(204)
    expect([(await listed(member)).length, await listed(owner)]).toEqual([1, []])
    expect(await graph.rows('select organization_id, audience from launcher.action_items where key = $1', [personal])).toEqual([
      { organization_id: null, audience: 'person' },
    ])
  })

  it('does nothing when it comes late', async () => {
    const id = randomUUID()
    const early = graph.clock.now().toISOString()
    await graph.clock.advance(1_000)
    expect(await send('item.closed', { id })).toBe(204)
    expect(await send('item.opened', { id })).toBe(204)
    expect(await send('item.closed', { id }, { timestamp: early })).toBe(204)
    expect(await listed(owner)).toHaveLength(1)
    await graph.clock.advance(1_000)
    expect(await send('item.closed', { id })).toBe(204)
    expect(await send('item.opened', { id }, { timestamp: early })).toBe(204)
    expect(await listed(owner)).toEqual([])
    await graph.clock.advance(1_000)
    expect(await send('item.opened', { id })).toBe(204)
    expect(await listed(owner)).toHaveLength(1)
  })

  it('tells news once, which join by their scope', async () => {
    const message = randomUUID()
    for (const id of [message, message, randomUUID()])
      expect(await send('notification.sent', { id: randomUUID(), userId: member.userId, kind: 'news', scope: 'contract:1' }, { id })).toBe(204)
    const notifications = async () =>
      (await graph.execute('{ notifications(app: "notifications") { nodes { kind title count } } }', {}, { as: member })).data().notifications.nodes
    await expect.poll(notifications, { timeout: 10_000 }).toEqual([{ kind: 'news', title: 'Sign the contract', count: 2 }])
  })

  it('is refused when it is forged, old or no message', async () => {
    const id = randomUUID()
    expect(await send('item.opened', { id }, { signature: 'bad' })).toBe(401)
    expect(await send('item.opened', { id }, { ageSeconds: 301 })).toBe(400)
    expect(await send('item.opened', { id }, { ageSeconds: -301 })).toBe(400)
    expect((await door.ask('POST', path, { body: {} })).status).toBe(401)
    for (const data of [
      { id, title: '' },
      { id, severity: 'URGENT' },
      { id, organizationId: null },
      { id, organizationId: 'acme' },
      { id, url: 'javascript:1' },
      { id: `${id}\0` },
      { id, title: 'Sign\0it' },
      { id, body: 'half \ud800' },
      { id, url: 'https://contracts.test/\0' },
      { id, scope: '\0' },
      {},
    ])
      expect(await send('item.opened', data), JSON.stringify(data)).toBe(400)
    expect(await send('item.deleted', { id })).toBe(400)
    expect(await listed(owner)).toEqual([])
  })
})

describe('an item of the notification service', () => {
  const emit = (event: string, more: object = {}) =>
    steer<{ id: string }>(graph, 'emit', { network: 'notifications', event, title: 'At the service', organizationId, ...more })
  const read = () => {
    const { services, foundation } = graph.platform.launcher.at
    return takeOpen(graph.platform.launcher.job('test'), services.notificationService!, foundation.clock)
  }
  /** Opens an item at the service, whose messages go nowhere here, and reads it. */
  async function opened(more: object = {}) {
    const { id } = await emit('item-opened', more)
    await graph.clock.advance(1_000)
    await read()
    const item = (await listed(owner)).find(({ key }: { key: string }) => key === id)
    await graph.clock.advance(1_000)
    return { key: id, id: item?.id as string }
  }

  it('is completed there first, for the person, and stays open while the service refuses', async () => {
    const { key, id } = await opened()
    await steer(graph, 'faults', { network: 'notifications', fault: 'status', status: 503, times: 1 })
    ;(await change(owner, 'complete', id)).refused('UPSTREAM_FAILED')
    expect([(await listed(owner)).length, await completions(key)]).toEqual([1, []])
    ;(await change(owner, 'complete', id, { expectedVersion: 7 })).refused('CONFLICT')
    expect(await completions(key)).toEqual([])
    expect((await change(owner, 'complete', id)).data().completeActionItem).toEqual({ status: 'DONE', closedBy: { id: owner.userId } })
    expect((await change(member, 'complete', id)).data().completeActionItem.status).toBe('DONE')
    expect(await completions(key)).toMatchObject([{ id: key, userId: owner.userId }])
    expect((await change(owner, 'reopen', id)).refused('CONFLICT').extensions.reason).toBe('RESOLVED')
    await read()
    expect(await listed(owner)).toEqual([])
  })

  it('joins and leaves the queue by the reading of the whole as well, whatever messages were lost', async () => {
    const { key } = await opened()
    const { id: kept } = await opened({ title: 'Stays' })
    await emit('item-closed', { id: key })
    await read()
    expect((await listed(owner)).map(({ id }: { id: string }) => id)).toEqual([kept])
    const version = async () => (await graph.rows<{ version: number }>('select version from launcher.action_items where id = $1', [kept]))[0]!.version
    const before = await version()
    await read()
    expect(await version()).toBe(before)
    await graph.clock.advance(1_000)
    await emit('item-opened', { id: key, title: 'Again' })
    await graph.clock.advance(1_000)
    await read()
    expect((await listed(owner)).map(({ title }: { title: string }) => title).sort()).toEqual(['Again', 'Stays'])
  })

  it('holds up no other when it cannot be stored, and stays open when it was before', async () => {
    const { key } = await opened({ title: 'Before' })
    await emit('item-opened', { id: key, title: 'No\0title' })
    await emit('item-opened', { id: `a-${randomUUID()}`, title: 'Half \ud800' })
    await emit('item-opened', { id: randomUUID(), title: 'Good' })
    await graph.clock.advance(1_000)
    await read()
    expect((await listed(owner)).map(({ title }: { title: string }) => title).sort()).toEqual(['Before', 'Good'])
  })

  it('stays when the service cannot be read', async () => {
    await opened()
    await using _ = await graph.x.away()
    await expect(read()).rejects.toThrow()
    expect(await listed(owner)).toHaveLength(1)
  })
})
