import { expect, test } from 'vitest'
import { service } from '../processor/stage.ts'
import { seedDomain, seedIdentity } from './seed.ts'
import { sendingWorld } from './sending.ts'

const hour = 3_600_000
const other = (at: number) => `someone-${at}@example.com`

test('in the name of the platform people of an organization write to one address twenty times a day, sixty at once; by another spelling no more', async () => {
  const { graph, trySend, rows } = await sendingWorld(null)
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => trySend({ to: [at % 2 ? 'ada@example.com' : 'ADA@EXAMPLE.com', other(at)] })))
  for (const answer of answers.filter(({ error }) => error)) answer.refused('RATE_LIMITED')
  expect(await rows()).toHaveLength(20)
  ;(await trySend({ to: [other(0)] })).data()
  await graph.clock.advance(25 * hour)
  ;(await trySend()).data()
})

test('in the name of the platform people of an organization write to so many recipients a day as is configured, each copy counted; others to as many', async () => {
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

test('services, and who sends from a domain of their own, are not counted', async () => {
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
