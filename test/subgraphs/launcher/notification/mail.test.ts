import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { localTime } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import type { MailContent } from '../../../../subgraphs/launcher/engines/mail/mail.ts'
import { deliverNotices } from '../../../../subgraphs/launcher/engines/notify/deliver.ts'
import { writeMails } from '../../../../subgraphs/launcher/notification/mail/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { dies } from '../../../kit/dies.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { sendingWorld, twins } from '../../providers/email/sending.ts'
import { seedAttention, seedClosed } from '../action-item/seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let organizationId: string
beforeAll(async () => {
  graph = await supergraph()
  // Mails stay in the outbox, where tests read them.
  vi.spyOn(graph.platform.launcher.at.services.mail.sweep, 'run').mockResolvedValue()
})
beforeEach(async () => {
  await graph.rows('delete from launcher.messages')
  await graph.rows('delete from launcher.mails')
  await graph.clock.advance(60_000 - (graph.clock.now().getTime() % 60_000))
  ;({ owner, member } = await graph.seed.owner().member())
  organizationId = owner.organizationId!
})
afterAll(() => graph[Symbol.asyncDispose]())

const prefer = async (as: Viewer, input: object) =>
  (
    await graph.execute('mutation($input: UpdateNotificationPreferencesInput!) { updateNotificationPreferences(input: $input) { version } }', { input }, { as })
  ).data()
const rule = (app: string, kind: string, email: boolean, push = false) => ({ app, kind, inApp: true, email, push })
const byMail = [rule('*', '*', true)]
const job = () => graph.platform.launcher.job('test')
/** Has everything happen that is due. */
async function settle(): Promise<void> {
  await deliverNotices(job())
  await expect.poll(() => graph.rows('select from launcher.notices'), { timeout: 10_000 }).toEqual([])
  await writeMails(job())
  const due = () => graph.rows(`select from launcher.messages where way = 'MAIL' and next_attempt_at <= $1`, [graph.clock.now()])
  await expect.poll(due, { timeout: 10_000 }).toEqual([])
}
const addressOf = async ({ userId }: Viewer): Promise<string> =>
  (await graph.rows<{ email: string }>('select email from identity.users where id = $1', [userId]))[0]!.email
async function mailsTo(viewer: Viewer) {
  const { cipher } = graph.platform.launcher.at.foundation
  const rows = await graph.rows<{ id: string; kind: string; organizationId: string | null; sealed: string }>(
    'select id, kind, organization_id as "organizationId", sealed from launcher.mails order by created_at, key',
  )
  const address = await addressOf(viewer)
  return rows
    .map(({ id, sealed, ...row }) => ({ ...row, ...(JSON.parse(cipher.open(sealed, `launcher.mails:${id}`)) as MailContent) }))
    .filter(({ to }) => to === address)
}
const waiting = (more: object = {}) => seedAttention(graph, { organizationId, ...more })

describe('a mail about an action item', () => {
  it('comes to those who want it, with title and address, on the account of its organization', async () => {
    await prefer(owner, { rules: [rule('publishing', 'POST_FAILED', true)] })
    await waiting({ title: 'A post\nfailed', body: 'The network refused it.' })
    await settle()
    const [mail, ...others] = await mailsTo(owner)
    expect(others).toEqual([])
    expect(mail).toMatchObject({ kind: 'action-item', organizationId, subject: 'A post failed' })
    for (const text of ['A post\nfailed', 'The network refused it.', 'http://localhost:4000/publishing/posts/1']) expect(mail!.text).toContain(text)
    expect(await mailsTo(member)).toEqual([])
    // Items are listed; they are no news.
    expect(await graph.rows('select from launcher.notifications where organization_id = $1', [organizationId])).toEqual([])
  })

  it('comes unasked when it is CRITICAL, to its audience alone, and again when it becomes CRITICAL or opens anew', async () => {
    await prefer(owner, { rules: [rule('*', '*', false)] })
    const { key } = await waiting({ audience: 'managers', kind: 'BUDGET_EXHAUSTED', title: 'Spent' })
    await settle()
    expect([(await mailsTo(owner)).length, (await mailsTo(member)).length]).toEqual([1, 0])
    await waiting({ key, audience: 'managers', kind: 'BUDGET_EXHAUSTED', title: 'Spent still' })
    await settle()
    expect(await mailsTo(owner)).toHaveLength(1)
    await seedClosed(graph, key)
    await graph.clock.advance(1_000)
    await waiting({ key, audience: 'managers', kind: 'BUDGET_ALERT', severity: 'NORMAL', title: 'Half spent' })
    await settle()
    expect(await mailsTo(owner)).toHaveLength(1)
    await waiting({ key, audience: 'managers', kind: 'BUDGET_EXHAUSTED', title: 'Spent again' })
    await settle()
    expect((await mailsTo(owner)).map(({ subject }) => subject).sort()).toEqual(['Spent', 'Spent again'])
  })

  it('is one for a spend limit that also has an alert', async () => {
    const limitId = newId()
    await waiting({ key: `spend_limit:${limitId}`, audience: 'managers', kind: 'BUDGET_EXHAUSTED', title: 'Spent' })
    const body = { organizationId, limitId, scopeType: 'ORGANIZATION', kind: 'EXHAUSTED' }
    await graph.platform.launcher.receive!({ id: newId(), from: 'providers', kind: 'budget.alert', subject: `test:${newId()}`, at: graph.clock.now(), body })
    await settle()
    expect((await mailsTo(owner)).map(({ kind }) => kind)).toEqual(['action-item'])
    expect(await graph.rows('select kind from launcher.notifications where user_id = $1', [owner.userId])).toEqual([{ kind: 'budget.alert' }])
  })

  it('is one however many processes write it, and however often one dies', async () => {
    await prefer(owner, { rules: byMail })
    await graph.rows(
      `insert into launcher.messages (id, way, user_id, organization_id, audience, app, kind, title, severity, next_attempt_at, created_at)
       select gen_random_uuid(), 'MAIL', $1, $2, 'managers', 'payments', 'order.paid', 'Paid ' || n, 'NORMAL', $3, $3 from generate_series(1, 5) n`,
      [owner.userId, organizationId, graph.clock.now()],
    )
    await dies('launcher-message-queued', () => writeMails(job()))
    await graph.clock.advance(10_000)
    await Promise.all([1, 2, 3, 4].map(() => writeMails(job())))
    await settle()
    expect((await mailsTo(owner)).map(({ subject }) => subject).sort()).toEqual([1, 2, 3, 4, 5].map(n => `Paid ${n}`))
  })
})

describe('a mail about news', () => {
  it('comes once for each, with a kind of its own', async () => {
    await prefer(owner, { rules: [rule('payments', 'order.paid', true)] })
    for (const amountMinor of [100, 200]) {
      const body = { organizationId, orderId: newId(), merchantId: newId(), amountMinor, currency: 'EUR', at: graph.clock.now().toISOString() }
      await graph.platform.launcher.receive!({ id: newId(), from: 'payments', kind: 'order.paid', subject: `test:${newId()}`, at: graph.clock.now(), body })
    }
    await settle()
    expect((await mailsTo(owner)).map(({ kind, subject }) => [kind, subject]).sort()).toEqual([
      ['notification', '1.00 EUR paid for an order'],
      ['notification', '2.00 EUR paid for an order'],
    ])
  })
})

describe('quiet hours', () => {
  const timeZone = 'Asia/Kathmandu'
  const localIn = (hours: number) => localTime(timeZone, graph.clock.in(hours * 3_600_000)).time
  /** Since an hour ago, for two hours more. */
  const quiet = () => ({ timeZone, quietHours: { from: localIn(-1), to: localIn(2) }, rules: byMail })

  it('keep mails until their end, then one mail says what still stands; CRITICAL heeds none', async () => {
    await prefer(owner, quiet())
    await waiting({ title: 'First' })
    const { key } = await waiting({ title: 'Gone by then' })
    await waiting({ title: 'Second' })
    await waiting({ title: 'Now', severity: 'CRITICAL' })
    await settle()
    expect((await mailsTo(owner)).map(({ subject }) => subject)).toEqual(['Now'])
    await seedClosed(graph, key)
    await graph.clock.advance(2 * 3_600_000 - 1)
    await settle()
    expect(await mailsTo(owner)).toHaveLength(1)
    await graph.clock.advance(1)
    await Promise.all([1, 2, 3].map(() => writeMails(job())))
    await settle()
    const [, held, ...others] = await mailsTo(owner)
    expect(others).toEqual([])
    expect(held).toMatchObject({ kind: 'action-item', organizationId, subject: '2 things came in your quiet hours' })
    for (const text of ['First', 'Second', 'http://localhost:4000/publishing/posts/1']) expect(held!.text).toContain(text)
    expect(held!.text).not.toContain('Gone')
    expect(await graph.rows('select from launcher.messages')).toEqual([])
  })

  it('keep what would have been pushed for the same mail', async () => {
    await prefer(owner, { ...quiet(), rules: [rule('*', '*', false, true)] })
    await waiting({ title: 'Only one' })
    await settle()
    expect(await mailsTo(owner)).toEqual([])
    await graph.clock.advance(2 * 3_600_000)
    await settle()
    expect((await mailsTo(owner)).map(({ subject }) => subject)).toEqual(['Only one'])
  })

  it('let go what waits when they are ended or moved', async () => {
    await prefer(owner, quiet())
    await waiting({ title: 'Waits' })
    await settle()
    await prefer(owner, { quietHours: { from: localIn(-1), to: localIn(5) } })
    await graph.clock.advance(2 * 3_600_000)
    await settle()
    expect(await mailsTo(owner)).toEqual([])
    await prefer(owner, { quietHours: null })
    await settle()
    expect((await mailsTo(owner)).map(({ subject }) => subject)).toEqual(['Waits'])
  })

  it('forget what waits for somebody who left the organization, or no longer manages it', async () => {
    await prefer(owner, quiet())
    await prefer(member, quiet())
    await waiting({ audience: 'managers', title: 'For managers' })
    await waiting({ title: 'For all' })
    await settle()
    const tell = (kind: string, userId: string, more: object) =>
      graph.platform.launcher.receive!({
        ...{ id: newId(), from: 'identity', kind, subject: `membership:${newId()}`, at: graph.clock.now() },
        body: { membershipId: newId(), userId, organizationId, userKind: 'HUMAN', ...more },
      })
    const titles = async () => (await graph.rows<{ title: string }>('select title from launcher.messages order by user_id, title')).map(({ title }) => title)
    expect((await titles()).sort()).toEqual(['For all', 'For all', 'For managers'])
    expect(await tell('membership.changed', owner.userId!, { roles: ['member'] })).toBe('received')
    expect(await titles()).toEqual(['For all', 'For all'])
    expect(await tell('membership.removed', member.userId!, { roles: ['member'] })).toBe('received')
    expect(await titles()).toEqual(['For all'])
  })
})

describe('mails of several organizations', () => {
  it('are written and handed over in turns, so that a backlog of one holds up no other', async () => {
    const { owner: other } = await graph.seed.owner()
    const add = (viewer: Viewer, count: number, at: Date) =>
      graph.rows(
        `insert into launcher.messages (id, way, user_id, organization_id, audience, app, kind, title, severity, next_attempt_at, created_at)
         select gen_random_uuid(), 'MAIL', $1, $2, 'managers', 'payments', 'order.paid', 'Paid', 'NORMAL', $4, $4 from generate_series(1, $3::int)`,
        [viewer.userId, viewer.organizationId, count, at],
      )
    const { messages } = job()
    const moment = graph.clock.in(3_600_000)
    await add(owner, 500, graph.clock.in(600_000))
    await add(other, 2, moment)
    const due = await messages.due('MAIL', moment, 10, 40)
    expect(due.filter(({ organizationId: id }) => id === other.organizationId)).toHaveLength(2)
    expect(due).toHaveLength(12)
    expect(await messages.due('MAIL', graph.clock.now(), 10, 40)).toEqual([])
  })
})

describe('a mail of the launcher', () => {
  it('reaches the mail server through providers, once, with its kind in a header', async () => {
    const { server, received } = await twins()
    const { graph: world, owner: boss, tryAll } = await sendingWorld(server)
    await seedAttention(world, { organizationId: boss.organizationId!, severity: 'CRITICAL', title: 'Money is at stake' })
    const sent = () => world.rows('select from launcher.mails where message_id is not null')
    await expect.poll(sent, { timeout: 30_000 }).toHaveLength(1)
    await tryAll()
    expect(await received()).toMatchObject([{ headers: { 'x-supergraph-mail': 'action-item', 'auto-submitted': 'auto-generated' } }])
  })
})
