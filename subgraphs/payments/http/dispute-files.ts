import { createHash } from 'node:crypto'
import { DomainError } from '../../../platform/errors.ts'
import { makeHeld } from '../../store/claim.ts'
import { write } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { requireAnswerable } from '../engines/dispute/rules.ts'
import { outcomeOf } from '../engines/payment/outcome.ts'
import type { DisputeFileRow } from '../stores/events/dispute-file.ts'

/** Where files of disputes are kept: the id of the dispute in its first group. */
export const disputeFilesPath = /^\/payments\/api\/disputes\/([^/]+)\/files$/

/** What files may be: as the processor takes them. */
const types = ['application/pdf', 'image/png', 'image/jpeg']
/** Limits: bytes of a file, characters of its name, and files of one dispute. */
const most = { bytes: 5 * 1024 * 1024, name: 200, files: 20 } as const

const refuse = (field: string, sentence: string) => new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })

function readName(given: string | null): string {
  const name = given?.trim() ?? ''
  if (name.length >= 1 && name.length <= most.name && name.isWellFormed() && !/[\p{Cc}/\\]/u.test(name)) return name
  throw refuse('name', `takes the name of a file, 1 to ${most.name} characters without a path.`)
}

/**
 * Answers `POST /payments/api/disputes/:id/files?name=`: keeps a file at the processor that evidence may name, once for each key.
 * @throws NOT_FOUND; BAD_USER_INPUT for another type, an empty file or no name; CONFLICT, reason ILLEGAL_MOVE or EVIDENCE_LATE for a dispute
 *   that takes no evidence, QUOTA for one with as many files as there may be; UPSTREAM_FAILED
 */
export async function answerDisputeFile(context: Context, request: Request, id: string): Promise<Response> {
  const { disputes, disputeFiles, clock, viewer } = context
  const tenantId = activeOrganization(viewer, 'Disputes')
  const dispute = await disputes.require(id)
  const name = readName(new URL(request.url).searchParams.get('name'))
  const contentType = (request.headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (!types.includes(contentType)) throw refuse('content-type', `is none of ${types.join(', ')}.`)
  const content = new Uint8Array(await request.arrayBuffer())
  if (content.length < 1 || content.length > most.bytes) throw refuse('body', `has ${content.length} bytes: it takes 1 to ${most.bytes}.`)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const once = { disputeId: dispute.id, name, contentType, sha256, idempotencyKey: request.headers.get('idempotency-key') }
  const { row, repeated } = await makeHeld<DisputeFileRow>(context, {
    ...{ what: 'createDisputeFile', tenantId, once, find: file => disputeFiles.byId.load(file) },
    async make(hold) {
      requireAnswerable(dispute, 'submit', clock.now())
      if ((await disputeFiles.manyBy('disputeId').load(dispute.id)).length >= most.files)
        throw new DomainError('CONFLICT', `The dispute has ${most.files} files, and there may be no more.`, { reason: 'QUOTA' })
      const processorId = await keep(context, { key: hold.id, name, contentType, content })
      return write(context, {
        async run({ now, transaction }) {
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          const place = { id: hold.id, disputeId: dispute.id, organizationId: dispute.organizationId }
          return disputeFiles.insert({ ...place, processorId, name, contentType, bytes: content.length, ...stamps }, transaction)
        },
        audit: ({ id: subjectId }) => ({ tenantId: dispute.merchantId, action: 'dispute_file.created', subjectId, details: { disputeId: dispute.id } }),
      })
    },
  })
  return Response.json(
    { id: row.id, name: row.name, contentType: row.contentType, bytes: row.bytes },
    { status: 201, headers: repeated ? { 'idempotent-replayed': 'true' } : {} },
  )
}

async function keep(
  { evidence, viewer }: Context,
  file: { readonly key: string; readonly name: string; readonly contentType: string; readonly content: Uint8Array },
): Promise<string> {
  const organizationId = activeOrganization(viewer, 'Disputes')
  const kept = await evidence.keepFile({ organizationId, ...file, key: `file:${file.key}` }).catch(error => {
    const outcome = outcomeOf(error, true)
    if (outcome.kind === 'NOT_SENT') throw outcome.refusal
    if (outcome.kind === 'FAILED') throw refuse('body', 'is no file that the processor takes as evidence.')
    return null
  })
  if (kept) return kept
  throw new DomainError('UPSTREAM_FAILED', 'The payment processor did not answer: send the file again in a moment.', { reason: 'NO_ANSWER' })
}
