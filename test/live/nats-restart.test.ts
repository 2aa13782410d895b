import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createCarriedEvents } from '../../carriers/events.ts'
import { createNatsCarrier } from '../../carriers/nats.ts'
import { keep } from '../../router/start/apart/keep.ts'
import { natsServer } from '../../router/start/apart/nats-server.ts'
import { freePort, until } from '../kit/launch.ts'
import { hasNats, noNats } from '../kit/nats.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

test('the NATS server of start:apart returns on its port after its shell was killed, and so do events', async ({ skip }) => {
  if (!hasNats) return skip(noNats)
  const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'nats-'))
  const { part, url } = natsServer({ folder, port: await freePort(), token: 'secret', environment: { PATH: process.env.PATH } })
  const lines: string[] = []
  const kept = keep(part, { line: (_, text) => void lines.push(text), ended: (_, by) => void lines.push(by), back: () => void lines.push('back') })
  const log = pino({ level: 'silent' })
  const [one, two] = [0, 1].map(() => createCarriedEvents({ carrier: createNatsCarrier({ url, log }), log })) as [
    ReturnType<typeof createCarriedEvents>,
    ReturnType<typeof createCarriedEvents>,
  ]
  try {
    const both = async () => (await one.check()) === undefined && (await two.check()) === undefined
    await until('both are connected', both)
    spawn('kill', ['-9', String(kept.pid)])
    await until('it is noticed', async () => !(await both()))
    await until('both are connected again', both, 30)
    const stream = two.listen(['a'])
    one.announce('a', { id: '1' })
    expect((await stream.next()).value).toEqual({ id: '1' })
    await stream.return()
  } finally {
    await Promise.all([one.stop(), two.stop()])
    await kept.stop(3_000)
  }
})
