import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Writable } from 'node:stream'
import { Registry } from 'prom-client'
import { onTestFinished } from 'vitest'
import { createOpenPool } from '../../../../db/connect.ts'
import { createCipher } from '../../../../platform/cipher.ts'
import { type BoundClock, createBoundClock } from '../../../../platform/clock.ts'
import { createOpenJobs } from '../../../../platform/jobs/jobs.ts'
import type { MailServer } from '../../../../platform/smtp/address.ts'
import type { Times } from '../../../../platform/smtp/line.ts'
import { createLines } from '../../../../platform/smtp/lines.ts'
import { createLog } from '../../../../router/door/log.ts'
import { createDeliver } from '../../../../subgraphs/identity/mail/deliver.ts'
import { measureMails } from '../../../../subgraphs/identity/mail/figures.ts'
import type { NewMail } from '../../../../subgraphs/identity/mail/kinds.ts'
import { sendQueue } from '../../../../subgraphs/identity/mail/queue.ts'
import { createMails } from '../../../../subgraphs/identity/mail/send.ts'
import { mailStore } from '../../../../subgraphs/identity/mail/store.ts'
import { codeStore } from '../../../../subgraphs/identity/stores/code.ts'
import { createTestDatabase } from '../../../kit/database.ts'
import { unbounded } from '../../../kit/reading.ts'

/** Mails on a database of one test's own, tried when the test says so: nothing works by itself. */
export async function openSending(server: MailServer | null, times: Times = { connectMs: 2_000, talkMs: 2_000 }) {
  const database = await createTestDatabase({ poolSize: 20 })
  const clock: BoundClock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  const cipher = createCipher([{ id: 'test', key: randomBytes(32) }])
  const log: string[] = []
  const lines = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk))
      done()
    },
  })
  const logger = createLog('debug', lines)
  const openPool = createOpenPool({ url: database.url, log: logger })
  const store = mailStore(database.sequelize)
  const codes = codeStore.open({ sequelize: database.sequelize, clock, reading: unbounded, viewer: null })
  const metrics = new Registry()
  const figures = measureMails(metrics, store, () => clock.now().getTime())
  /** A try by a process of its own. @param keys what it opens codes with */
  const worker = (keys = cipher) => {
    const lines = server && createLines(server, times)
    onTestFinished(() => lines?.close())
    return createDeliver({
      store,
      lines,
      sender: { name: 'Plätform', address: 'no-reply@platform.test' },
      publicUrl: 'https://platform.test',
      cipher: keys,
      clock,
      figures,
      log: logger,
    })
  }
  const deliver = worker()
  // A runner that never takes anything.
  const jobs = createOpenJobs({ openPool, mayRun: () => false })({ slug: 'identity', queues: [sendQueue(deliver)], sweeps: [], log: logger })
  await jobs.start()
  const mails = createMails({ store, cipher, jobs: () => jobs, idHost: 'platform.test' })
  onTestFinished(async () => {
    await jobs.stop()
    await database.drop()
  })
  const sql = async (text: string) => (await database.sequelize.query(text))[0] as Record<string, unknown>[]
  return {
    database,
    clock,
    codes,
    log,
    metrics,
    mails,
    worker,
    deliver,
    sql,
    send: (mail: NewMail) => database.sequelize.transaction(transaction => mails.send(mail, { transaction, now: clock.now() })),
    rows: () => sql('select id, outcome, failures, code, due_at, claim from identity.mails order by id'),
    /** Tries every mail that is due, all at once. */
    async tryAll(by = deliver) {
      const due = await store.overdue(clock.now(), 1_000)
      await Promise.all(due.map(by))
    },
  }
}

/** A server of raw lines: it greets, then does what the test says with each connection. */
export async function rawServer(meet: (socket: Socket, at: number) => void): Promise<MailServer> {
  let met = 0
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    meet(socket, met++)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, secure: false, auth: null }
}

/** Answers each command of a connection by its first word, or by the whole of it; `message` is what comes after DATA. Null: no answer, `cut`: the end. */
export function answering(socket: Socket, answers: Readonly<Record<string, string | null | ((line: string) => string)>> = {}): void {
  const usual: Readonly<Record<string, string | null>> = {
    greeting: '220 raw.test ESMTP',
    EHLO: '250-raw.test\r\n250 AUTH PLAIN',
    AUTH: '235 OK',
    MAIL: '250 OK',
    RCPT: '250 OK',
    DATA: '354 Go on',
    message: '250 Taken',
    QUIT: '221 Bye',
    RSET: '250 OK',
  }
  const reply = (to: string, line = '') => {
    const wanted = answers[to] === undefined ? (usual[to] ?? '502 What?') : answers[to]
    const answer = typeof wanted === 'function' ? wanted(line) : wanted
    if (answer === 'cut') socket.resetAndDestroy()
    else if (answer !== null) socket.write(`${answer}\r\n`)
  }
  let rest = ''
  let inMessage = false
  socket.on('data', chunk => {
    rest += chunk
    for (;;) {
      const end = rest.indexOf(inMessage ? '\r\n.\r\n' : '\r\n')
      if (end < 0) return
      const line = rest.slice(0, end)
      rest = rest.slice(end + (inMessage ? 5 : 2))
      if (inMessage) {
        inMessage = false
        reply('message')
      } else {
        const command = line.split(/[ :]/, 1)[0]!.toUpperCase()
        reply(command, line)
        if (command === 'DATA' && String(answers.DATA ?? '354').startsWith('354')) inMessage = true
      }
    }
  })
  reply('greeting')
}
