import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { armCrash } from '../../../../platform/crash.ts'
import { readMailServer } from '../../../../platform/smtp/address.ts'
import { startSandbox } from '../../../../sandbox/server.ts'
import { claimMs } from '../../../../subgraphs/identity/mail/rules.ts'
import { openSending } from './sending.ts'

// test/chaos/mails.test.ts kills whole processes. Here the end is an error that undoes what is not committed, as the kill does.

/** Does something that ends at a crash point. */
async function dies(point: string, work: () => Promise<unknown>): Promise<void> {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('power failure')
  })
  armCrash(point)
  try {
    await expect(work()).rejects.toThrow('power failure')
  } finally {
    armCrash(null)
    kill.mockRestore()
  }
}

test.each([
  ['after-mail-claim', 0, 1],
  // The server has it and nobody wrote so: nobody can know, so it goes once more, under the same Message-ID.
  ['after-mail-taken', 1, 2],
  ['after-mail-written', 1, 1],
] as const)('a crash %s, when the server has %i of it, neither loses a mail nor sends it oftener than nobody can know', async (point, before, after) => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-mail-'))
  const sandbox = await startSandbox({ folder, port: 0, smtpPort: 0 })
  onTestFinished(async () => {
    await sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const ids = async () => {
    const mails = (await (await fetch(`${sandbox.origin}/_control/received?network=smtp`)).json()) as { headers: Record<string, string> }[]
    return mails.map(({ headers }) => headers['message-id'])
  }
  const sending = await openSending(readMailServer(sandbox.mail!.url)!)
  await sending.send({ kind: 'notice', to: 'ada@acme.test', data: { name: 'Ada', what: 'password-changed' } })
  await dies(point, () => sending.tryAll())
  expect(await ids()).toHaveLength(before)
  // Whoever looks meanwhile finds it taken.
  sending.clock.advance(claimMs - 1)
  await sending.tryAll(sending.worker())
  expect(await ids()).toHaveLength(before)
  sending.clock.advance(1)
  await sending.tryAll(sending.worker())
  await sending.tryAll(sending.worker())
  expect([(await ids()).length, new Set(await ids()).size]).toEqual([after, 1])
  expect(await sending.rows()).toMatchObject([{ outcome: 'sent', failures: 0 }])
})
