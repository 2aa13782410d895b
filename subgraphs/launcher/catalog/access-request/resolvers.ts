import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId, readText } from '../../../../platform/ids.ts'
import { findMade, type WriteTransaction, writing } from '../../../store/books.ts'
import { change, write } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import { changeItem } from '../../action-item/items.ts'
import { requireMayChange, resolving } from '../../action-item/rules.ts'
import { NameOfUserDocument } from '../../ask.generated.ts'
import type { Context } from '../../context.ts'
import { postNotice } from '../../engines/notify/notify.ts'
import { decidedNotice } from '../../notification/rules.ts'
import { registration } from '../../registration.ts'
import type { DecideAccessRequestInput, RequestAccessInput, Resolvers, WithdrawAccessRequestInput } from '../../resolvers.generated.ts'
import type { AccessRequestRow } from '../../stores/access-request.ts'
import { requireEntry } from '../entry/rules.ts'
import { announceInstalled, type Installed, install } from '../installation/install.ts'
import { requireInstallable } from '../installation/rules.ts'
import { lineOf, type Requested, writeRequest } from './request.ts'
import { deciding, keyOf, maxReason, withdrawing } from './rules.ts'

function organizationOf({ viewer }: Context): string {
  if (viewer.kind === 'user' && !viewer.organizationId)
    throw new DomainError('CONFLICT', 'Apps are requested for an organization: switch to one first.', { reason: 'CONTEXT' })
  return activeOrganization(viewer, 'Requests for apps')
}

/** Returns the requester's name; null for a key or a service, and when identity does not answer. */
const nameOf = async ({ ask, viewer, leaving }: Context): Promise<string | null> =>
  viewer.userId === null
    ? null
    : ask(NameOfUserDocument, { id: viewer.userId }, { appId: registration.appId, viewer, signal: leaving }).then(
        ({ user }) => user?.name ?? null,
        () => null,
      )

async function requestAccess(context: Context, input: RequestAccessInput): Promise<AccessRequestRow> {
  const { viewer, accessRequests, catalogEntries, installations } = context
  const [organizationId, actor] = [organizationOf(context), actorOf(viewer)]
  requireMayChange(viewer, 'launcher:apps.write')
  const reason = readText(input.reason, 'reason', maxReason)
  const entry = requireEntry(await catalogEntries.ofApp(input.app), input.app)
  const { app } = entry
  const name = await nameOf(context)
  const { row } = await write<Requested>(context, {
    async run(unit) {
      const { transaction, now } = unit
      // One request for an app at a time; an installation under way is waited for.
      const installation = await installations.lockOf({ organizationId, userId: null }, app, transaction)
      const pending = await accessRequests.pendingOf({ organizationId, createdBy: actor, app }, transaction)
      const id = pending?.id ?? newId(now)
      const idempotency = readIdempotency(input)
      const earlier = idempotency && (await findMade(context[writing], accessRequests, { tenantId: organizationId, id, ...idempotency }, unit))
      if (earlier ?? pending) return { row: (earlier ?? pending)! }
      if (installation) throw new DomainError('CONFLICT', `${app} is installed already: open it.`, { reason: 'INSTALLED' })
      requireInstallable(entry, 'organization', 0, null)
      return writeRequest(context, entry, { organizationId, userId: viewer.userId, name, actor, reason }, unit, id)
    },
    audit: ({ row, announce }) => (announce ? lineOf('access_request.created', row) : null),
    announce: ({ announce }) => announce?.(),
  })
  return row
}

/** Resolves the action item of a request. @returns a function that notifies its viewers */
async function resolveItem(context: Context, request: AccessRequestRow, unit: WriteTransaction): Promise<(() => void) | undefined> {
  const item = await context.actionItems.lockKey('launcher', keyOf(request), unit.transaction)
  return item ? changeItem(context, item, resolving(item, unit.now), unit) : undefined
}

async function decide(context: Context, input: DecideAccessRequestInput): Promise<AccessRequestRow> {
  const { viewer, accessRequests, catalogEntries, installations } = context
  const [organizationId, actor] = [organizationOf(context), actorOf(viewer)]
  const comment = readText(input.comment, 'comment', maxReason)
  const { app } = await accessRequests.require(input.id)
  // Read before the request is locked, because waiting for the lock holds a connection.
  const entry = input.decision === 'APPROVE' ? requireEntry(await catalogEntries.ofApp(app), app) : null
  const title = (entry ?? (await catalogEntries.ofApp(app)))?.title ?? null
  let tellItem: (() => void) | undefined
  let deliver: (() => void) | undefined
  let installed: Installed | undefined
  const request = await change(context, {
    of: accessRequests,
    id: input.id,
    expectedVersion: input.expectedVersion,
    async decide(request, unit) {
      const changes = deciding(request, input.decision, { userId: viewer.userId, comment, now: unit.now })
      if (entry) installed = await install(context, entry, { owner: { organizationId, userId: null }, userId: viewer.userId, actor }, unit)
      tellItem = await resolveItem(context, request, unit)
      const notice = decidedNotice({ ...request, ...changes }, title, context.publicUrl)
      if (notice) deliver = await postNotice(context, notice, unit)
      return changes
    },
    audit: ({ after }) => lineOf(after.status === 'APPROVED' ? 'access_request.approved' : 'access_request.declined', after),
    announce() {
      tellItem?.()
      deliver?.()
      if (installed) announceInstalled(context, installed)
    },
  })
  installations.forget()
  context.entitlements.forget()
  return request
}

async function withdraw(context: Context, { id, expectedVersion }: WithdrawAccessRequestInput): Promise<AccessRequestRow> {
  const { viewer, accessRequests } = context
  requireMayChange(viewer, 'launcher:apps.write')
  let tellItem: (() => void) | undefined
  return change(context, {
    of: accessRequests,
    id,
    expectedVersion,
    async decide(request, unit) {
      const changes = withdrawing(request, actorOf(viewer), unit.now)
      tellItem = await resolveItem(context, request, unit)
      return changes
    },
    audit: ({ after }) => lineOf('access_request.withdrawn', after),
    announce: () => tellItem?.(),
  })
}

export const accessRequestResolvers: Resolvers = {
  Query: {
    accessRequests: (_, page, context) => context.accessRequests.page('ofOrganization', organizationOf(context), page),
  },
  Mutation: {
    requestAccess: (_, { input }, context) => requestAccess(context, input),
    withdrawAccessRequest: (_, { input }, context) => withdraw(context, input),
    decideAccessRequest: (_, { input }, context) => decide(context, input),
  },
  AccessRequest: {
    __resolveReference: ({ id }, { accessRequests }) => accessRequests.byId.load(id),
    entry: ({ app }, _, { catalogEntries }) => catalogEntries.ofApp(app),
    requestedBy: ({ requestedBy }) => (requestedBy ? { __typename: 'User', id: requestedBy } : null),
    decidedBy: ({ decidedBy }) => (decidedBy ? { __typename: 'User', id: decidedBy } : null),
  },
}
