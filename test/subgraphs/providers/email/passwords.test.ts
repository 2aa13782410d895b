import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { seedServer, sendingWorld, twins } from './sending.ts'

/** A mail server whose password was changed here, and which knows the one before alone. */
async function rotated(graceMs: number) {
  const { server, received } = await twins()
  const world = await sendingWorld(null)
  const { graph } = world
  const id = await seedServer(graph, null, { ...server, auth: { ...server.auth!, pass: 'a-newer-password' } })
  const job = graph.platform.providers.job('test')
  const kept = { previousSecret: job.credentials.sealPrevious(id, server.auth!.pass), graceEndsAt: new Date(graph.clock.now().getTime() + graceMs) }
  await inTransaction(job, async ({ transaction }) => {
    const row = await job.credentials.lock(id, transaction)
    await job.credentials.update(row!, kept, transaction)
  })
  const deliver = world.worker([server])
  const status = async () => {
    await job.credentialsInUse.settled()
    const [row] = await graph.rows<{ status: string; message: string | null }>(
      'select status, test_message as message from providers.credentials where id = $1',
      [id],
    )
    return row!
  }
  return { ...world, deliver, received, status, job }
}

test('G-07 a mail is sent with the former password while its grace period lasts, if the server rejects the new one', async () => {
  const world = await rotated(60_000)
  const { id } = await world.send()
  await world.tryAll(world.deliver)
  expect(await world.read(id)).toMatchObject({ status: 'SENT', attempts: 1 })
  expect(await world.received()).toHaveLength(1)
  // That nobody is let in by the new one is said of the credential all the same.
  expect(await world.status()).toMatchObject({ status: 'FAILING', message: expect.stringContaining('535') })
})

test('G-07 a mail waits when the server rejects every password, and the credential is FAILING', async () => {
  const world = await rotated(0)
  const { id } = await world.send()
  await world.tryAll(world.deliver)
  expect(await world.read(id)).toMatchObject({ status: 'QUEUED', attempts: 1, failure: { code: 'PUT_OFF' } })
  expect(await world.received()).toEqual([])
  expect(await world.status()).toMatchObject({ status: 'FAILING' })
  expect(JSON.stringify([world.log, await world.status()])).not.toContain('a-newer-password')
})

test('G-07 a mail is begun by one attempt: not before it is due, and not again after an attempt without a result', async () => {
  const world = await sendingWorld(null)
  const { emailMessages } = world.graph.platform.providers.job('test')
  const { id } = await world.send()
  const now = world.graph.clock.now()
  const begin = (at: number) => emailMessages.begin(id, { now: new Date(now.getTime() + at), until: new Date(now.getTime() + at + 1_000), claim: newId() })
  expect([await begin(-1), await begin(0), await begin(0), await begin(1_000)]).toEqual([false, true, false, false])
  await world.graph.rows(`update providers.email_messages set due_at = due_at + interval '1 hour'`)
  const early = await world.deliver(id)
  expect(early).toEqual(new Date(now.getTime() + 3_601_000))
  expect(await world.rows()).toMatchObject([{ status: 'SENDING', attempts: 1 }])
})
