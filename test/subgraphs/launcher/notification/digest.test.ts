import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { MailContent } from '../../../../subgraphs/launcher/engines/mail/mail.ts'
import { sendDigests } from '../../../../subgraphs/launcher/notification/digest/send.ts'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { dies } from '../../../kit/dies.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { sendingWorld, twins } from '../../providers/email/sending.ts'
import { seedAttention } from '../action-item/seed.ts'
import { seedNotification } from './seed.ts'

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
  await graph.rows('delete from launcher.mails')
  await graph.rows('delete from launcher.notification_preferences')
  ;({ owner, member } = await graph.seed.owner().member())
  organizationId = owner.organizationId!
})
afterAll(() => graph[Symbol.asyncDispose]())

const job = () => graph.platform.launcher.job('test')
const prefer = async (as: Viewer, input: object) =>
  (
    await graph.execute('mutation($input: UpdateNotificationPreferencesInput!) { updateNotificationPreferences(input: $input) { version } }', { input }, { as })
  ).data()
const sendNow = (as: Viewer, idempotencyKey?: string) =>
  graph.execute(
    'mutation($input: SendNotificationDigestInput!) { sendNotificationDigest(input: $input) { sent openItems unreadNotifications } }',
    { input: { idempotencyKey } },
    { as },
  )
const sent = async (as: Viewer) => (await sendNow(as)).data().sendNotificationDigest
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
const dueAt = async ({ userId }: Viewer) =>
  (await graph.rows<{ at: Date | null }>('select digest_at as at from launcher.notification_preferences where user_id = $1', [userId]))[0]?.at ?? null
/** Sets the clock forward to a moment. */
const advanceTo = (moment: Date) => graph.clock.advance(moment.getTime() - graph.clock.now().getTime())
const daily = (at = '08:00', timeZone = 'Europe/Berlin') => ({ timeZone, digest: { frequency: 'DAILY', at } })
const waiting = (more: object = {}) => seedAttention(graph, { organizationId, ...more })

describe('sendNotificationDigest', () => {
  it('mails what waits for the person and what they have not read in all contexts, and nothing of others', async () => {
    const { owner: stranger } = await graph.seed.owner()
    const [title, urgent] = ['A post waits', 'The money is\ngone']
    await waiting({ title, severity: 'NORMAL' })
    await waiting({ title: urgent, audience: 'managers', severity: 'HIGH', url: 'http://localhost:4000/urgent' })
    await waiting({ title: 'For somebody else', audience: 'person', userId: member.userId! })
    await seedAttention(graph, { organizationId: stranger.organizationId!, title: 'Elsewhere' })
    await seedAttention(graph, { organizationId: null, audience: 'person', userId: owner.userId!, title: 'Of mine alone' })
    await seedNotification(graph, { organizationId, userId: owner.userId! })
    await seedNotification(graph, { organizationId: null, userId: owner.userId! })
    await seedNotification(graph, { organizationId, userId: member.userId! })
    expect(await sent(owner)).toEqual({ sent: true, openItems: 3, unreadNotifications: 2 })
    const [mail, ...others] = await mailsTo(owner)
    expect(others).toEqual([])
    expect(mail).toMatchObject({ kind: 'digest', organizationId: null, subject: 'You have 3 open action items and 2 unread notifications' })
    for (const text of [title, 'The money is gone', 'http://localhost:4000/urgent', 'Of mine alone', '12.50 EUR paid for an order'])
      expect(mail!.text).toContain(text)
    expect(mail!.text.indexOf('The money is gone')).toBeLessThan(mail!.text.indexOf(title))
    for (const text of ['somebody else', 'Elsewhere']) expect(mail!.text).not.toContain(text)
    // The member is no manager, and all of it belongs to one organization.
    expect(await sent(member)).toEqual({ sent: true, openItems: 2, unreadNotifications: 1 })
    expect(await mailsTo(member)).toMatchObject([{ organizationId, subject: 'You have 2 open action items and 1 unread notification' }])
    expect((await mailsTo(member))[0]!.text).not.toContain('gone')
  })

  it('leaves out what is read, archived, done or snoozed, and sends nothing when there is nothing', async () => {
    const id = await seedNotification(graph, { organizationId, userId: owner.userId! })
    await waiting({ title: 'Later' })
    const { nodes } = (await graph.execute('{ actionItems { nodes { id } } }', {}, { as: owner })).data().actionItems
    const until = graph.clock.in(3_600_000).toISOString()
    await graph.execute(
      'mutation($id: ID!, $until: DateTime) { snoozeActionItem(input: { id: $id, until: $until }) { id } }',
      { id: nodes[0].id, until },
      { as: owner },
    )
    await graph.execute('mutation($id: ID!) { markNotificationsRead(input: { ids: [$id] }) { unread } }', { id }, { as: owner })
    expect(await sent(owner)).toEqual({ sent: false, openItems: 0, unreadNotifications: 0 })
    expect(await mailsTo(owner)).toEqual([])
    expect((await sent(member)).openItems).toBe(1)
  })

  it('lists 20 of each and counts the others', async () => {
    for (let each = 1; each <= 22; each += 1) await waiting({ title: `Item ${each}` })
    expect(await sent(owner)).toMatchObject({ openItems: 22 })
    const [mail] = await mailsTo(owner)
    expect(mail!.text.match(/^- Item/gm)).toHaveLength(20)
    expect(mail!.text).toContain('- and 2 more')
  })

  it('is refused for the seventh within an hour, for keys, and without a verified address', async () => {
    await waiting()
    const answers = await Promise.all(Array.from({ length: 9 }, () => sendNow(owner)))
    const refused = answers.filter(({ error }) => error !== undefined)
    expect(refused).toHaveLength(3)
    for (const each of refused) {
      const { retryAfter } = each.refused('RATE_LIMITED').extensions
      expect(retryAfter).toBeGreaterThan(3_500)
      expect(retryAfter).toBeLessThanOrEqual(3_600)
    }
    expect(await mailsTo(owner)).toHaveLength(6)
    await sent(member)
    await graph.clock.advance(3_600_000)
    expect(await sent({ ...personally(owner), scopes: personalScopes })).toMatchObject({ sent: true, openItems: 1 })
    ;(await sendNow(key(organizationId, ['launcher:notifications.read', 'launcher:notifications.write']))).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    await graph.rows('update identity.users set email_verified = false where id = $1', [member.userId])
    ;(await sendNow(member)).refused('CONFLICT')
  })
})

describe('an idempotency key of sendNotificationDigest', () => {
  it('answers the first digest again, past the limit too, and sends no other', async () => {
    await waiting()
    const [first, again] = await Promise.all([sendNow(owner, 'one'), sendNow(owner, 'one')])
    expect(again.data()).toEqual(first.data())
    for (let each = 0; each < 5; each += 1) await sendNow(owner)
    ;(await sendNow(owner)).refused('RATE_LIMITED')
    await waiting()
    expect((await sendNow(owner, 'one')).data()).toEqual(first.data())
    expect((await mailsTo(owner)).length).toBeLessThanOrEqual(6)
    expect(await graph.rows(`select from launcher.audit_entries where action = 'notification_digest.sent' and tenant_id = $1`, [owner.userId])).toHaveLength(
      (await mailsTo(owner)).length,
    )
  })
})

describe('the scheduled digest', () => {
  it.each([
    ['Europe/Berlin', '02:30', '2027-03-27T12:00:00Z', ['2027-03-28T01:30', '2027-03-29T00:30']],
    ['Europe/Berlin', '02:30', '2027-10-30T12:00:00Z', ['2027-10-31T00:30', '2027-11-01T01:30']],
    ['America/Santiago', '00:00', '2027-09-04T12:00:00Z', ['2027-09-05T04:00', '2027-09-06T03:00']],
    ['Asia/Kathmandu', '08:00', '2027-11-02T12:00:00Z', ['2027-11-03T02:15', '2027-11-04T02:15']],
    ['Pacific/Apia', '08:00', '2027-11-05T12:00:00Z', ['2027-11-05T19:00', '2027-11-06T19:00']],
  ] as const)('comes at its time in %s at %s, after %s', async (timeZone, at, from, [first, second]) => {
    await advanceTo(new Date(from))
    await prefer(owner, daily(at, timeZone))
    await waiting({ title: 'Waits' })
    for (const [index, moment] of [first, second].entries()) {
      expect((await dueAt(owner))?.toISOString().slice(0, 16)).toBe(moment)
      const due = (await dueAt(owner))!
      await advanceTo(new Date(due.getTime() - 1))
      await sendDigests(job())
      expect(await mailsTo(owner)).toHaveLength(index)
      await advanceTo(due)
      await sendDigests(job())
      await expect.poll(async () => (await mailsTo(owner)).length, { timeout: 10_000 }).toBe(index + 1)
    }
  })

  it('comes weekly on its weekday, by the sweep that its change woke, and not when there is nothing', async () => {
    await prefer(owner, { timeZone: 'UTC', digest: { frequency: 'WEEKLY', at: '08:00', weekday: 'FRIDAY' } })
    const due = (await dueAt(owner))!
    expect([due.getUTCDay(), due.getUTCHours()]).toEqual([5, 8])
    await advanceTo(due)
    await sendDigests(job())
    await expect.poll(async () => (await dueAt(owner))!.getTime() - due.getTime()).toBe(7 * 86_400_000)
    expect(await mailsTo(owner)).toEqual([])
    await waiting({ title: 'Now there is something' })
    await advanceTo((await dueAt(owner))!)
    await sendDigests(job())
    await expect.poll(async () => (await mailsTo(owner)).map(({ kind }) => kind)).toEqual(['digest'])
  })

  it('moves with the preferences, ends with OFF, and stays when something else changes', async () => {
    await prefer(owner, daily('08:00', 'UTC'))
    const first = (await dueAt(owner))!
    await prefer(owner, { timeZone: 'Asia/Kathmandu' })
    expect((await dueAt(owner))!.toISOString().slice(11, 16)).toBe('02:15')
    await prefer(owner, { timeZone: 'UTC', rules: [] })
    expect(await dueAt(owner)).toEqual(first)
    await prefer(owner, { digest: { frequency: 'OFF' } })
    expect(await dueAt(owner)).toBeNull()
    await prefer(member, {})
    expect(await dueAt(member)).toBeNull()
  })

  it('leaves once however many processes send it, and however often one dies', async () => {
    await prefer(owner, daily())
    await prefer(member, daily())
    await waiting({ title: 'Once' })
    // Nobody else sends it meanwhile.
    const due = (await dueAt(owner))!
    const at = new Date(graph.clock.now().getTime() - 1)
    await graph.rows('update launcher.notification_preferences set digest_at = $1', [at])
    await dies('launcher-digest-queued', () => sendDigests(job()))
    await graph.clock.advance(61_000)
    await Promise.all([1, 2, 3, 4].map(() => sendDigests(job())))
    await expect.poll(async () => (await mailsTo(owner)).length).toBe(1)
    await expect.poll(async () => (await mailsTo(member)).length).toBe(1)
    await Promise.all([1, 2].map(() => sendDigests(job())))
    expect([(await mailsTo(owner)).length, (await mailsTo(member)).length]).toEqual([1, 1])
    expect([await dueAt(owner), await dueAt(member)]).toEqual([due, due])
  })

  it('waits for no person without a verified address, and is computed for those who wanted it before', async () => {
    await prefer(owner, daily())
    await prefer(member, daily())
    await waiting()
    const due = (await dueAt(owner))!
    await graph.rows('update identity.users set email_verified = false where id = $1', [owner.userId])
    await graph.rows('update launcher.notification_preferences set digest_at = $2 where user_id = $1', [owner.userId, graph.clock.now()])
    await graph.rows(`update launcher.notification_preferences set digest_at = 'epoch' where user_id = $1`, [member.userId])
    await sendDigests(job())
    await expect.poll(async () => [await dueAt(owner), await dueAt(member)]).toEqual([due, due])
    expect([await mailsTo(owner), await mailsTo(member)]).toEqual([[], []])
  })

  it('is tried again when identity does not answer', async () => {
    await prefer(owner, daily())
    await waiting()
    const work = Object.create(job(), { ask: { value: () => Promise.reject(new Error('no answer')) } })
    const now = graph.clock.now()
    await graph.rows('update launcher.notification_preferences set digest_at = $2 where user_id = $1', [owner.userId, now])
    await sendDigests(work)
    expect([await dueAt(owner), await mailsTo(owner)]).toEqual([new Date(now.getTime() + 60_000), []])
    await graph.clock.advance(60_000)
    await sendDigests(job())
    await expect.poll(async () => (await mailsTo(owner)).length).toBe(1)
  })
})

describe('a digest', () => {
  it('reaches the mail server with its kind in a header', async () => {
    const { server, received } = await twins()
    const { graph: world, owner: boss, tryAll } = await sendingWorld(server)
    await seedAttention(world, { organizationId: boss.organizationId!, title: `Waits ${newId()}` })
    const { sendNotificationDigest } = (await world.execute('mutation { sendNotificationDigest(input: {}) { sent } }', {}, { as: boss })).data()
    expect(sendNotificationDigest).toEqual({ sent: true })
    await expect.poll(() => world.rows('select from launcher.mails where message_id is not null'), { timeout: 30_000 }).toHaveLength(1)
    await tryAll()
    expect(await received()).toMatchObject([{ headers: { 'x-supergraph-mail': 'digest' } }])
  })
})
