import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { until } from '../kit/launch.ts'
import { notificationSecret } from '../kit/stand-in.ts'
import { openBrowser, type PushedMessage } from '../subgraphs/launcher/notification/browser.ts'
import { openApart, ready } from './apart.ts'
import { randomNumbers } from './storm.ts'

const wanted = Boolean(process.env.CHAOS)
if (!wanted) console.warn('kills of processes of the launcher are left out, they take some minutes: npm run test:chaos')

const kills = Number(process.env.KILLS ?? 20)
const seed = Number(process.env.SEED ?? 8_030)
const causesEachKill = 4
/** Everybody of the organization: what the notification service says of it goes to all. */
const people = ['admin@demo.test', 'owner@demo.test', 'member@demo.test', 'peer@demo.test']
/** Where processes end by themselves: after an effect, before it is recorded. Every other kill comes at a random moment. */
const points = ['launcher-mail-sent', 'launcher-push-answered', 'launcher-message-queued'] as const

interface Mail {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

test.runIf(wanted)(
  'kill -9 of processes of the launcher: each cause is one entry of the queue, one mail to each person and one message for each browser',
  { timeout: 900_000 },
  async () => {
    await using launcher = await openApart('launcher', {
      count: 2,
      settings: at => ({ NOTIFICATIONS_URL: `${at}/notifications`, NOTIFICATIONS_SECRETS: notificationSecret }),
    })
    const { url, demo, workers, rows, control, origin } = launcher
    const random = randomNumbers(seed)
    const titles: string[] = []
    const browsers = []
    for (const email of people.slice(0, 2)) {
      const browser = openBrowser(origin, randomUUID())
      const input = { ...browser.subscription, idempotencyKey: browser.id }
      await (await signIn(url, email)).query('mutation($input: AddPushSubscriptionInput!) { addPushSubscription(input: $input) { id } }', { input })
      browsers.push(browser)
    }

    /** Says that an item waits, again and again until it is taken: each time as the same message. */
    async function send(): Promise<void> {
      const [id, title] = [randomUUID(), `Cause ${titles.length}`]
      titles.push(title)
      const at = new Date()
      const data = { id, title, severity: 'CRITICAL', organizationId: demo.organizationId, url: `https://demo.example/${id}`, at: at.toISOString() }
      const body = JSON.stringify({ type: 'item.opened', timestamp: at.toISOString(), data })
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(notificationSecret).sign(id, at, body),
      }
      await until(
        'the message is taken',
        () =>
          fetch(`${url}/launcher/api/notifications/events`, { method: 'POST', headers, body }).then(
            ({ status }) => status === 204,
            () => false,
          ),
        90,
      )
    }

    for (let kill = 0; kill < kills; kill += 1) {
      const worker = workers[Math.floor(random() * workers.length)]!
      const sending = Promise.all(Array.from({ length: causesEachKill }, send))
      await pause(Math.floor(random() * 1_200))
      worker.process.child.kill('SIGKILL')
      await worker.process.ended
      const point = kill % 2 === 0 ? points[(kill / 2) % points.length] : undefined
      const begun = worker.begin(point)
      await begun.printed(ready)
      await sending
      // A process with a point ends there by itself; the other one may have been quicker.
      if (point) worker.process.child.kill('SIGKILL')
      if (point) await worker.process.ended
      if (point) await worker.begin().printed(ready)
      // Lets leases of dead processes expire.
      await rows('update launcher.mails set next_attempt_at = now() where next_attempt_at is not null')
      await rows('update launcher.messages set next_attempt_at = now() where next_attempt_at > now()')
    }

    await until(
      'nothing waits any more',
      async () => {
        const [left] = await rows<Record<string, number>>(
          `select (select count(*) from launcher.notices)::int as notices, (select count(*) from launcher.messages)::int as messages,
             (select count(*) from launcher.mails where next_attempt_at is not null)::int as mails`,
        )
        return Object.values(left!).every(count => count === 0)
      },
      180,
    )
    const items = await rows<{ title: string }>(`select title from launcher.action_items where app = 'notifications' and title like 'Cause %'`)
    expect(items.map(({ title }) => title).sort()).toEqual(titles.toSorted())
    const expected = titles.flatMap(title => people.map(to => `${title} → ${to}`)).sort()
    const mails = async () => {
      const received = await control<Mail[]>('received?network=smtp')
      return received.flatMap(({ to, text }) => (/Cause \d+/.exec(text) ? to.map(each => `${/Cause \d+/.exec(text)![0]} → ${each}`) : [])).sort()
    }
    await until('every mail has arrived', async () => (await mails()).length >= expected.length, 90)
    expect(await mails()).toEqual(expected)

    const pushed = await control<(PushedMessage & { readonly id: string })[]>('received?network=push')
    for (const browser of browsers) {
      const own = pushed.filter(({ id }) => id === browser.id)
      const shown = new Map(own.map(message => [browser.open(message).id!, browser.open(message).title!]))
      expect([...shown.values()].sort()).toEqual(titles.toSorted())
      // A message that was repeated replaces the one before: the topic is that of the same item.
      expect(new Set(own.map(({ headers }) => headers.topic)).size).toBe(titles.length)
    }
    console.log(JSON.stringify({ seed, kills, causes: titles.length, mails: expected.length, pushed: pushed.length }))
  },
)
