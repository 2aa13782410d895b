import { expect, test } from 'vitest'
import { service } from '../processor/stage.ts'
import { seedDomain, seedIdentity } from './seed.ts'
import { sendingWorld } from './sending.ts'

const hour = 3_600_000
const other = (at: number) => `someone-${at}@example.com`

test('people of an organization may send twenty mails a day to one address in the platform’s name, also with sixty at once and other spellings', async () => {
  const { graph, trySend, rows } = await sendingWorld(null)
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => trySend({ to: [at % 2 ? 'ada@example.com' : 'ADA@EXAMPLE.com', other(at)] })))
  for (const answer of answers.filter(({ error }) => error)) answer.refused('RATE_LIMITED')
  expect(await rows()).toHaveLength(20)
  ;(await trySend({ to: [other(0)] })).data()
  await graph.clock.advance(25 * hour)
  ;(await trySend()).data()
})

test('people of an organization may send to the configured number of recipients a day in the platform’s name, each copy counted', async () => {
  const { graph, outsider, trySend, rows } = await sendingWorld(null, {}, { mailsFromPlatformADay: 100 })
  const fifty = (from: number) => Array.from({ length: 50 }, (_, at) => other(from + at))
  ;(await trySend({ to: fifty(0) })).data()
  ;(await trySend({ to: [other(50)], bcc: fifty(51).slice(1) })).data()
  ;(await trySend({ to: [other(101)] })).refused('RATE_LIMITED')
  ;(await trySend({ to: [other(101)] }, outsider)).data()
  expect(await rows()).toHaveLength(3)
  await graph.clock.advance(25 * hour)
  ;(await trySend({ to: fifty(0) })).data()
})

test('services, and senders from their own domain, are not counted', async () => {
  const { graph, owner, trySend, rows } = await sendingWorld(null, {}, { mailsFromPlatformADay: 1 })
  const domain = await seedDomain(graph, { organizationId: owner.organizationId!, domain: 'acme.test', status: 'VERIFIED' })
  const { id } = await seedIdentity(graph, domain, { localPart: 'news' })
  const app = service(owner.organizationId!, ['EMAIL'], 'app_support')
  for (let at = 0; at < 25; at++) {
    ;(await trySend({}, app)).data()
    ;(await trySend({ identityId: id })).data()
  }
  ;(await trySend()).data()
  ;(await trySend({ to: [other(1)] })).refused('RATE_LIMITED')
  expect(await rows()).toHaveLength(51)
})
