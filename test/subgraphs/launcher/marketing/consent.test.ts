import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextAttempt } from '../../../../subgraphs/launcher/engines/consent/sync.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { steer } from '../catalog/seed.ts'
import { visitorAt } from './visitor.ts'

interface Received {
  readonly project: string
  readonly id: string
  readonly subjectId: string
  readonly action: string
  readonly purposes: Readonly<Record<string, boolean>>
}

let graph: Supergraph
let door: Door
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
  door = await openDoor(graph)
})
// Tests decide what is sent when.
beforeEach(() => {
  vi.spyOn(graph.platform.launcher.at.services.consentSync, 'wake').mockImplementation(() => {})
})
beforeEach(async () => {
  await graph.rows('delete from launcher.consent_subjects')
  await graph.rows('delete from launcher.rates')
  await steer(graph, 'faults', { network: 'consent', fault: 'none' })
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const { ask } = { ask: (...given: Parameters<ReturnType<typeof visitorAt>['ask']>) => visitorAt(door, '192.0.2.77').ask(...given) }
const all = (value: boolean) => ({ analytics: value, personalization: value, advertising: value })
const ago = (seconds: number) => graph.clock.in(-seconds * 1_000).toISOString()
const decide = (subjectId: string, decision: string, more: object = {}) =>
  ask('PUT', 'consent', { subjectId, decision, policyVersion: '2026-10', decidedAt: ago(0), ...more })
const read = async (subjectId: string) => (await ask('GET', `consent/${subjectId}`)).json
const round = () => graph.platform.launcher.at.services.consentSync.sweep.run()
/** Sends what is due, and waits for what the platform itself sends meanwhile. */
async function sync(): Promise<void> {
  for (;;) {
    await round()
    const due = 'select from launcher.consent_subjects where next_attempt_at <= $1 or held_until > $1'
    if ((await graph.rows(due, [graph.clock.now()])).length === 0) return
    await setTimeout(20)
  }
}
const sent = async (subjectId: string) => (await steer<Received[]>(graph, 'received?network=consent')).filter(each => each.subjectId === subjectId)
const actions = async (subjectId: string) => (await sent(subjectId)).map(({ action }) => action)
const fail = (more: object = {}) => steer(graph, 'faults', { network: 'consent', fault: 'status', status: 503, times: 1, ...more })

describe('PUT /launcher/api/consent', () => {
  it('keeps a decision at once, and sends it to the consent service under the project', async () => {
    const subject = randomUUID()
    const { status, json } = await decide(subject, 'decline', { purposes: all(false) })
    expect([status, json]).toEqual([
      200,
      { ...{ id: json.id, subjectId: subject, decision: 'decline', ...all(false), policyVersion: '2026-10', decidedAt: ago(0) }, syncState: 'pending' },
    ])
    await sync()
    expect(await sent(subject)).toMatchObject([{ project: 'marketing', id: json.id, action: 'decline', purposes: all(false) }])
    expect(await read(subject)).toEqual({ ...json, syncState: 'synced' })
  })

  it('changes nothing by a decision that is not newer, and sends only what changed', async () => {
    const subject = randomUUID()
    const accepted = (await decide(subject, 'accept', { decidedAt: ago(10) })).json
    expect((await decide(subject, 'decline', { decidedAt: ago(20) })).json).toEqual(accepted)
    expect((await decide(subject, 'accept', { decidedAt: ago(10) })).json.id).toBe(accepted.id)
    await sync()
    expect(await actions(subject)).toEqual(['accept'])
    await decide(subject, 'custom', { purposes: { ...all(false), analytics: true } })
    await sync()
    expect(await sent(subject)).toMatchObject([{ action: 'accept' }, { action: 'custom', purposes: { ...all(false), analytics: true } }])
  })

  it('lets the latest of twenty decisions at once stand', async () => {
    const subject = randomUUID()
    await Promise.all(Array.from({ length: 20 }, (_, at) => decide(subject, at % 2 ? 'accept' : 'decline', { decidedAt: ago(at) })))
    expect(await read(subject)).toMatchObject({ decision: 'decline', decidedAt: ago(0) })
  })

  it('counts a moment in the future as now, so that a later decision still stands', async () => {
    const subject = randomUUID()
    expect((await decide(subject, 'accept', { decidedAt: ago(-86_400) })).json.decidedAt).toBe(ago(0))
    await graph.clock.advance(1_000)
    expect((await decide(subject, 'decline')).json.decision).toBe('decline')
  })

  it.each([
    ['purposes', { decision: 'accept', purposes: all(false) }],
    ['purposes', { decision: 'decline', purposes: { ...all(false), advertising: true } }],
    ['purposes', { decision: 'custom' }],
    ['purposes.analytics', { decision: 'custom', purposes: { ...all(true), analytics: 'yes' } }],
    ['purposes.more', { decision: 'accept', purposes: { ...all(true), more: true } }],
    ['decision', { decision: 'perhaps' }],
    ['subjectId', { decision: 'accept', subjectId: 'me' }],
    ['policyVersion', { decision: 'accept', policyVersion: '' }],
    ['decidedAt', { decision: 'accept', decidedAt: '2026-03-01' }],
  ])('refuses a wrong %s', async (field, { decision, ...wrong }: { decision: string; [more: string]: unknown }) => {
    const subject = randomUUID()
    const answer = await decide(subject, decision, wrong)
    expect([answer.status, answer.json.code, answer.json.field]).toEqual([400, 'BAD_USER_INPUT', field])
    expect((await ask('GET', `consent/${subject}`)).status).toBe(404)
  })

  it('is in the graph', async () => {
    const input = { subjectId: randomUUID(), decision: 'ACCEPT', policyVersion: '1', decidedAt: ago(0) }
    const fields = 'id decision analytics syncState'
    const made = (await graph.execute(`mutation($input: RecordConsentInput!) { recordConsent(input: $input) { ${fields} } }`, { input })).data().recordConsent
    expect(made).toMatchObject({ decision: 'ACCEPT', analytics: true, syncState: 'PENDING' })
    const found = await graph.execute(`query($id: ID!) { consentDecision(subjectId: $id) { ${fields} } }`, { id: input.subjectId })
    expect(found.data().consentDecision).toEqual(made)
    ;(await graph.execute('query($id: ID!) { consentDecision(subjectId: $id) { id } }', { id: randomUUID() })).refused('NOT_FOUND')
  })
})

describe('the consent service', () => {
  it('receives a decision as soon as it is stored', async () => {
    vi.mocked(graph.platform.launcher.at.services.consentSync.wake).mockRestore()
    const subject = randomUUID()
    await decide(subject, 'decline')
    await vi.waitUntil(async () => (await actions(subject)).length > 0, { timeout: 10_000, interval: 50 })
    expect(await actions(subject)).toEqual(['decline'])
  })

  it('receives a refused decision again after 5 s, 30 s, 2 min and 10 min, under the same id', async () => {
    const subject = randomUUID()
    await fail({ times: 4 })
    await decide(subject, 'accept')
    await sync()
    for (const seconds of [5, 30, 120]) {
      await graph.clock.advance((seconds - 1) * 1_000)
      await sync()
      await graph.clock.advance(1_000)
      await sync()
      expect(await sent(subject)).toEqual([])
    }
    expect((await read(subject)).syncState).toBe('pending')
    await graph.clock.advance(600_000)
    await sync()
    expect(await sent(subject)).toMatchObject([{ id: (await read(subject)).id, action: 'accept' }])
    expect((await read(subject)).syncState).toBe('synced')
  })

  it('receives an older decision before a newer one when it was away, as soon as the newer one is stored', async () => {
    const subject = randomUUID()
    await fail()
    await decide(subject, 'accept', { decidedAt: ago(60) })
    await sync()
    await decide(subject, 'decline', { decidedAt: ago(30) })
    await sync()
    expect(await actions(subject)).toEqual(['accept', 'decline'])
  })

  it('records once what it took without an answer, and the newer one after it', async () => {
    const subject = randomUUID()
    await steer(graph, 'faults', { network: 'consent', fault: 'timeout-after-accept', times: 1 })
    await decide(subject, 'accept', { decidedAt: ago(60) })
    await sync()
    await decide(subject, 'decline')
    await sync()
    expect(await actions(subject)).toEqual(['accept', 'decline'])
  }, 60_000)

  it('is not held up by a decision that it calls invalid', async () => {
    const subject = randomUUID()
    await fail({ status: 422 })
    await decide(subject, 'accept', { decidedAt: ago(60) })
    await decide(subject, 'decline', { decidedAt: ago(30) })
    await sync()
    expect(await actions(subject)).toEqual(['decline'])
  })

  it('receives each decision once from many processes at once, in their order', async () => {
    const subject = randomUUID()
    for (const seconds of [30, 20, 10]) await decide(subject, seconds === 20 ? 'decline' : 'accept', { decidedAt: ago(seconds) })
    await Promise.all(Array.from({ length: 8 }, sync))
    expect(await actions(subject)).toEqual(['accept', 'decline', 'accept'])
  })

  it('receives from another process what a process that died had taken', async () => {
    const subject = randomUUID()
    await decide(subject, 'accept')
    await sync()
    await graph.rows('update launcher.consent_subjects set next_attempt_at = $1, held_until = $2', [graph.clock.now(), graph.clock.in(60_000)])
    await graph.rows(`update launcher.consent_decisions set sync_state = 'PENDING' where subject_id = $1`, [subject])
    await round()
    expect((await read(subject)).syncState).toBe('pending')
    await graph.clock.advance(60_000)
    await sync()
    expect((await read(subject)).syncState).toBe('synced')
    // Under the same id, so the service has it once.
    expect(await actions(subject)).toEqual(['accept'])
  })

  it('receives nothing more after a week of failures; the decision stays here', async () => {
    const subject = randomUUID()
    await fail({ times: 2 })
    await decide(subject, 'accept')
    await sync()
    await graph.rows('update launcher.consent_subjects set attempts = 9, failing_since = $1', [graph.clock.in(-7 * 86_400_000)])
    await graph.clock.advance(5_000)
    await sync()
    expect((await read(subject)).syncState).toBe('local')
    await graph.clock.advance(3_600_000)
    await sync()
    expect(await actions(subject)).toEqual([])
  })
})

describe('nextAttempt', () => {
  const now = new Date('2026-03-02T09:00:00Z')
  const pause = (attempts: number, daysAgo = 0) => {
    const next = nextAttempt(attempts, new Date(now.getTime() - daysAgo * 86_400_000), now)
    return next && (next.getTime() - now.getTime()) / 1_000
  }

  it('waits longer after each failure, then an hour, for a week', () => {
    expect([1, 2, 3, 4, 5, 50].map(attempts => pause(attempts))).toEqual([5, 30, 120, 600, 3_600, 3_600])
    expect([pause(50, 6.9), pause(50, 7)]).toEqual([3_600, null])
  })
})
