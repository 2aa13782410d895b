import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { type MailServer, readMailServer } from '../../../../platform/smtp/address.ts'
import { createDial, placeOf } from '../../../../platform/smtp/dial.ts'
import { createLog } from '../../../../router/door/log.ts'
import { startSandbox } from '../../../../sandbox/server.ts'
import type { ReceivedMail } from '../../../../sandbox/smtp/smtp.ts'
import { createDeliver } from '../../../../subgraphs/providers/email/message/deliver.ts'
import { createServers } from '../../../../subgraphs/providers/email/message/servers.ts'
import type { EmailSettings } from '../../../../subgraphs/providers/registration.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { seedDomain, seedIdentity } from './seed.ts'

/** A sandbox with a mail server and DNS. */
export async function twins() {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-email-'))
  const sandbox = await startSandbox({ folder, port: 0, smtpPort: 0, dnsPort: 0 })
  onTestFinished(async () => {
    await sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const control = async <Answer>(path: string, body?: object) =>
    (await (
      await fetch(`${sandbox.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    ).json()) as Answer
  return {
    sandbox,
    server: readMailServer(sandbox.mail!.url)!,
    arm: (fault: object) => control('faults', { network: 'smtp', times: 1, ...fault }),
    armDns: (fault: object) => control('faults', { network: 'dns', times: 1, ...fault }),
    received: () => control<ReceivedMail[]>('received?network=smtp'),
    record: (name: string, type: string, value: string | readonly string[] | null) => control('dns', { name, type, value }),
  }
}

/** The platform with an identity that may send, and with a credential for its mail server; nothing leaves by itself. */
export async function sendingWorld(server: MailServer | null, email: Partial<EmailSettings> = {}, quotas: SupergraphOptions['quotas'] = {}) {
  const graph: Supergraph = await supergraph({ email, quotas })
  onTestFinished(() => graph[Symbol.asyncDispose]())
  const platforms = await seedDomain(graph, { organizationId: null, domain: 'platform.test' })
  await seedIdentity(graph, platforms, { localPart: 'no-reply', displayName: 'Plätform', isDefault: true })
  if (server) await seedServer(graph, null, server)
  const { owner, outsider } = await graph.seed.owner().outsider()
  const log: string[] = []
  const logger = createLog(
    'debug',
    new Writable({
      write(chunk, _, done) {
        log.push(String(chunk))
        done()
      },
    }),
  )
  /** A try by a process of its own. */
  const worker = (allowed: readonly MailServer[] = server ? [server] : []) => {
    const servers = createServers(createDial(allowed.map(({ host, port }) => placeOf(host, port))))
    onTestFinished(() => servers.close())
    return createDeliver({ job: () => graph.platform.providers.job('email'), servers, clock: graph.clock, log: logger })
  }
  const deliver = worker()
  const input = { to: ['ada@example.com'], subject: 'Welcome', text: 'Hello.' }
  const send = async (more: object = {}, as = owner) =>
    (await graph.execute(sendEmail, { input: { ...input, ...more } }, { as })).data().sendEmail as { id: string; status: string }
  return {
    graph,
    owner,
    outsider,
    log,
    worker,
    deliver,
    send,
    trySend: (more: object = {}, as = owner) => graph.execute(sendEmail, { input: { ...input, ...more } }, { as }),
    read: async (id: string, as = owner) => (await graph.execute(readEmail, { id }, { as })).data().emailMessage,
    async tryAll(by = deliver) {
      const due = await graph.platform.providers.job('test').emailMessages.overdue(graph.clock.now(), 1_000)
      await Promise.all(due.map(by))
    },
    rows: () => graph.rows('select status, attempts, content, due_at, claim, failure_code, recipients from providers.email_messages order by id'),
    told: () => graph.rows<{ body: { status: string } }>(`select receiver, body from providers.facts where kind = 'email.outcome' order by seq`),
  }
}

/** A credential of a mail server. @param organizationId null: the platform's */
export async function seedServer(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  organizationId: string | null,
  server: MailServer,
): Promise<string> {
  const job = platform.providers.job('test')
  const now = clock.now()
  const id = newId(now)
  const { user, pass } = server.auth ?? { user: 'nobody', pass: randomBytes(8).toString('hex') }
  const place = { id, level: organizationId ? ('ORGANIZATION' as const) : ('PLATFORM' as const), organizationId, provider: 'smtp', name: 'SMTP', baseUrl: null }
  const sealed = { secret: job.credentials.seal(id, pass), masked: '••••', plain: { host: server.host, port: String(server.port), user } }
  await inTransaction(job, ({ transaction }) => job.credentials.insert({ ...place, ...sealed, createdAt: now, updatedAt: now, createdBy: 'test' }, transaction))
  return id
}

export const sendEmail = 'mutation($input: SendEmailInput!) { sendEmail(input: $input) { id status from to cc subject } }'
export const readEmail =
  'query($id: ID!) { emailMessage(id: $id) { status from to cc subject attempts failure { code message } sentAt providerMessageId identity { id } } }'
