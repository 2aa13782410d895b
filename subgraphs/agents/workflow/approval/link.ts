import { randomBytes } from 'node:crypto'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { newId, readId } from '../../../../platform/ids.ts'
import { write } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context, Job } from '../../context.ts'
import type { CreateApprovalLinkInput, DecideApprovalInput } from '../../resolvers.generated.ts'
import type { ApprovalLink, ApprovalRow } from '../../stores/run/approval.ts'
import { decideNow } from './change.ts'
import { isRestricted, requireApprover } from './rules.ts'

/** For how long a link works, in seconds. */
const seconds = { least: 1, most: 30 * 86_400, usual: 86_400 } as const

/** One answer for every code that decides nothing: whoever tries codes learns from none of them. */
export const badCode = (): DomainError => new DomainError('BAD_USER_INPUT', 'This code is unknown, used or expired: ask for a new link.', { reason: 'CODE' })

/**
 * Makes an address by which an approval may be decided once. The code in it is kept as a hash alone.
 * @throws CONFLICT, reason DECIDED, for an approval that does not wait any more; BAD_USER_INPUT; FORBIDDEN, reason NOT_APPROVER, for a person
 *   who may not decide on it
 */
export async function createApprovalLink(context: Context, input: CreateApprovalLinkInput): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  const { approvals, runs, clock, publicUrl, viewer, isMember } = context
  const approval = await approvals.require(input.approvalId, 'approvalId')
  const given = input.expiresInSeconds ?? seconds.usual
  if (given < seconds.least || given > seconds.most)
    throw new DomainError('BAD_USER_INPUT', `expiresInSeconds is not between ${seconds.least} and ${seconds.most}.`, { field: 'expiresInSeconds' })
  const userId = readId(input.userId, 'userId')
  if (userId !== null && !(await isMember(userId, approval.organizationId, viewer)))
    throw new DomainError('BAD_USER_INPUT', 'userId is no member of the active organization.', { field: 'userId' })
  if (isRestricted(approval)) {
    if (userId === null) throw new DomainError('BAD_USER_INPUT', 'userId says whose decision the link brings: this approval needs it.', { field: 'userId' })
    const run = await runs.byId.load(approval.runId)
    requireApprover(approval, { userId, startedById: run?.startedById ?? null })
  }
  const code = randomBytes(32).toString('base64url')
  const createdBy = actorOf(viewer)
  const link = await write(context, {
    async run({ transaction }) {
      const present = (await approvals.lock(approval.id, transaction))!
      const now = clock.now()
      if (present.status !== 'PENDING' || present.expiresAt <= now)
        throw new DomainError('CONFLICT', 'This approval was decided, or has expired.', { reason: 'DECIDED', status: present.status })
      const expiresAt = new Date(Math.min(now.getTime() + given * 1_000, present.expiresAt.getTime()))
      const made = { id: newId(now), approvalId: approval.id, expiresAt, userId }
      await approvals.addLink({ ...made, codeHash: hashOfSecret(code), createdBy }, now, transaction)
      return made
    },
    audit: ({ id }) => ({ tenantId: approval.organizationId, action: 'approval_link.created', subjectId: approval.id, details: { linkId: id, userId } }),
  })
  return { url: `${publicUrl}/agents/approval?code=${code}`, expiresAt: link.expiresAt }
}

/** A link that works, with its approval. */
export interface OpenLink {
  readonly link: ApprovalLink
  readonly approval: ApprovalRow
}

/** The link with a code, and its approval. @throws BAD_USER_INPUT, reason CODE, for every code that decides nothing */
export async function openLink({ approvals, clock }: Pick<Job, 'approvals' | 'clock'>, code: unknown): Promise<OpenLink> {
  if (typeof code !== 'string' || !/^[\w-]{43}$/.test(code)) throw badCode()
  const link = await approvals.linkBy(hashOfSecret(code))
  const approval = link && (await approvals.byId.load(link.approvalId))
  const now = clock.now()
  if (!link || link.expiresAt <= now || approval?.status !== 'PENDING' || approval.expiresAt <= now) throw badCode()
  return { link, approval }
}

/**
 * Decides by a link, which is used up with it.
 * @param job of everybody's rows, in the link's name
 * @throws BAD_USER_INPUT, reason CODE, when another decision came first; else as `decide` does, and the link is left
 */
export async function decideByLink(job: Job, { link, approval }: OpenLink, input: Omit<DecideApprovalInput, 'id'>): Promise<ApprovalRow> {
  try {
    return await decideNow(job, approval, input, { actor: `link:${link.id}`, userId: link.userId }, async ({ transaction }) => {
      if (!(await job.approvals.useLink(link.id, transaction))) throw badCode()
    })
  } catch (error) {
    if (codeOf(error) === 'CONFLICT' && (error as DomainError).extensions.reason === 'DECIDED') throw badCode()
    throw error
  }
}
