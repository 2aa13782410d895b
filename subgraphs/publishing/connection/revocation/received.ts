import { formOf } from '../../../http/html.ts'
import { problem } from '../../../http/problem.ts'
import { record, type WriteTransaction, writeFacts } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import { eventsOfConnection } from '../../news/webhook/told.ts'
import type { BrandRow } from '../../stores/brand.ts'
import { type ConnectionRow, disconnected } from '../../stores/connection.ts'
import type { NetworkAccount } from '../../stores/revocation/network-account.ts'
import type { RevocationEvent, SignedRequestRow } from '../../stores/revocation/signed-request.ts'
import { announceHealth, healthFacts } from '../health.ts'
import { complaint, meantUntilOf } from './rules.ts'
import { readersOf } from './signers.ts'

/**
 * Handles a network's signed notification that a person withdrew our application's permission, or wants their data
 * deleted (https://developers.facebook.com/docs/development/create-an-app/app-dashboard/data-deletion-callback).
 *
 * Only the signed content identifies a request, so each acts once: a repetition gets the first answer, also when the
 * account was connected again meanwhile. A request that is repeated at the other address has no second effect, because
 * the signed content does not say which of the two it is for. The answer for an unknown account is the same, so that no
 * answer reveals who has an account.
 */
export async function revoked(job: Job, platform: Platform, event: RevocationEvent, request: Request): Promise<Response> {
  const readers = await readersOf(job, platform)
  if (!readers) return problem(request, 'NOT_FOUND', `No application of ${everyNetwork[platform].title} is set up here that could be meant.`)
  const sent = (await formOf(request)).getAll('signed_request')
  const { signed, organizations } = sent.length === 1 ? await readers(sent[0]!) : { signed: { outcome: 'malformed' } as const, organizations: null }
  if (signed === null)
    return problem(request, 'UPSTREAM_FAILED', 'Whose application signed this cannot be found out at this moment: send it again in a minute.')
  const wrong = complaint(signed, job.clock.now())
  if (wrong || signed.outcome !== 'read') return problem(request, wrong!.code, wrong!.sentence, { field: 'signed_request' })
  const { accountId, digest } = signed
  const meantUntil = meantUntilOf(signed, job.clock.now())
  const { row } = await write(job, {
    async run(unit) {
      const { row, isFirst } = await job.signedRequests.take({ platform, event, digest, accountId, organizations, meantUntil }, unit)
      return { row, changed: isFirst ? await disconnect(job, { event, account: { platform, accountId, before: meantUntil, organizations } }, unit) : [] }
    },
    announce: async ({ changed }) => {
      for (const { brand, before, after } of changed) if (brand) announceHealth(job.events, brand, { before, after })
    },
  })
  return Response.json(event === 'DEAUTHORIZE' ? {} : told(job, row), { headers: { 'cache-control': 'no-store' } })
}

/** Returns the answer to a network's deletion request: the address at which the person can read its state. */
const told = ({ publicUrl }: Job, { code }: SignedRequestRow) => ({ url: `${publicUrl}/publishing/data-deletion/${code}`, confirmation_code: code })

interface Disconnected {
  readonly brand: BrandRow | null
  readonly before: ConnectionRow
  readonly after: ConnectionRow
}

/**
 * Deactivates every connection of the account, in all brands. Posts stay scheduled: another connection may send them.
 */
async function disconnect(
  job: Job,
  { event, account }: { readonly event: RevocationEvent; readonly account: NetworkAccount },
  unit: WriteTransaction,
): Promise<readonly Disconnected[]> {
  const { platform } = account
  const { title } = everyNetwork[platform]
  const reason =
    event === 'DEAUTHORIZE'
      ? `The account’s owner took the permission back at ${title}: connect it again.`
      : `The account’s owner asked at ${title} to have its data deleted.`
  const changed: Disconnected[] = []
  const held = await job.networkAccounts.hold(account, unit.transaction)
  const brands = await job.networkAccounts.brandsOf(held, unit.transaction)
  for (const before of held) {
    if (!before.active) continue
    const brand = brands.get(before.brandId) ?? null
    const changes = { ...disconnected(reason), version: before.version + 1, updatedAt: unit.now }
    const after = await job.connections.update(before, changes, unit.transaction)
    const line = {
      tenantId: before.brandId,
      actor: `network:${platform.toLowerCase()}`,
      action: 'connection.revoked',
      subjectId: before.id,
      details: { event },
    }
    await record(job, line, unit)
    const place = brand && { organizationId: brand.organizationId, publicUrl: job.publicUrl }
    if (place) await writeFacts(job, [...healthFacts(before, after, place), ...eventsOfConnection(before, after)], unit)
    changed.push({ brand, before, after })
  }
  return changed
}
