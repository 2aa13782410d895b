import { randomBytes } from 'node:crypto'
import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { mask } from '../credential/rules.ts'
import { recordsOf } from '../email/domain/records.ts'
import { keyPair } from '../email/domain/resolvers.ts'
import { lookAgainMs } from '../email/domain/rules.ts'
import type { SenderDomainRow } from '../stores/email/domain.ts'
import type { DemoPart, DemoPlace } from './part.ts'

const domain = 'platform.demo.test'

/** Namespace of the ids of the demo's platform-wide mail rows, the same on every machine. */
const ground = '00000000-0000-7000-8000-000000000000'

/** Demo mail rows that belong to no organization, for the removal of the demo. */
export const ofEmail = { credentials: [idOfName(ground, 'smtp')], domains: [idOfName(ground, domain)] } as const

/** Creates what everyone sends from: a platform domain with an identity, and the sandbox's mail server. */
export const provideEmail: DemoPart = async (job, place) => {
  const stands = await inTransaction(job, async ({ transaction, now }) => {
    const { senderDomains, senderIdentities } = job
    const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${place.userId}` }
    const present = await senderDomains.claimOf(domain, transaction)
    if (present) return present
    const keys = await keyPair()
    const [id] = ofEmail.domains
    const owned = { level: 'PLATFORM', organizationId: null } as const
    const key = { publicKey: keys.publicKey, privateKey: senderDomains.sealKey(id, keys.privateKey), selector: 'demo' }
    const found = { OWNERSHIP: 'FOUND', SPF: 'FOUND', DKIM: 'FOUND', DMARC: 'FOUND', RETURN_PATH: 'FOUND' } as const
    const row = await senderDomains.insert(
      {
        id,
        ...owned,
        domain,
        kind: 'PLATFORM_EMAIL',
        status: 'VERIFIED',
        token: randomBytes(20).toString('hex'),
        ...key,
        seen: found,
        lastCheckedAt: now,
        nextCheckAt: new Date(now.getTime() + lookAgainMs),
        ...stamps,
      },
      transaction,
    )
    const identity = { id: idOfName(ground, `no-reply@${domain}`), ...owned, domainId: id, localPart: 'no-reply', displayName: 'Demo' }
    await senderIdentities.insert({ ...identity, isDefault: true, ...stamps }, transaction)
    return row
  })
  await provideServer(job, place)
  await setRecords(job, place, stands)
}

/** Sets the platform's mail server to the sandbox's present address, unless a person has entered another one. */
const provideServer = (job: Job, { mailServer, userId }: DemoPlace): Promise<void> =>
  inTransaction(job, async ({ transaction, now }) => {
    if (!mailServer?.auth) return
    const { credentials } = job
    const { alike } = await credentials.ofOwner({ organizationId: null, provider: 'smtp', name: 'SMTP' }, transaction)
    const [id] = ofEmail.credentials
    const known = await credentials.lock(id, transaction)
    const plain = { host: mailServer.host, port: String(mailServer.port), user: mailServer.auth.user }
    const sealed = { secret: credentials.seal(id, mailServer.auth.pass), masked: mask(mailServer.auth.pass) }
    if (known && known.plain.host === plain.host && known.plain.port !== plain.port)
      await credentials.update(known, { plain, ...sealed, updatedAt: now }, transaction)
    if (alike > 0) return
    const place = { id, level: 'PLATFORM' as const, organizationId: null, provider: 'smtp', name: 'SMTP', baseUrl: null }
    await credentials.insert({ ...place, ...sealed, plain, createdAt: now, updatedAt: now, createdBy: `user:${userId}` }, transaction)
  })

/** Sets the domain's records in the sandbox's DNS, so that it stays verified. */
async function setRecords({ mailing }: Job, { sandbox, outbound }: DemoPlace, row: SenderDomainRow): Promise<void> {
  const set = ({ host, type, value }: ReturnType<typeof recordsOf>[number]) =>
    outbound?.(`${sandbox}/_control/dns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: host, type, value }),
    })
  // Without the sandbox's DNS the domain keeps its status until it is looked up.
  await Promise.all(recordsOf(row, mailing.mailDomain).map(set)).catch(() => {})
}
