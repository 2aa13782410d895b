import { newId, readText, requireName, requireText } from '../../../../platform/ids.ts'
import { change, checkVersion, remove, write } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, SaveMemoryInput, SetKillSwitchInput, UpdateOperatingWorkspaceInput } from '../../resolvers.generated.ts'
import type { MemoryRow } from '../../stores/workspace/memory.ts'
import { emptyWorkspace, type OperatingWorkspaceRow, workspaceIdOf } from '../../stores/workspace/operating-workspace.ts'
import { readJson } from '../../workflow/plan.ts'
import { most, requireRoom } from './rules.ts'

const what = 'The operating workspace'

/** The workspace of the active organization, whether or not it was written. */
async function present({ viewer, operatingWorkspaces }: Context): Promise<OperatingWorkspaceRow> {
  const organizationId = activeOrganization(viewer, what)
  return (await operatingWorkspaces.byId.load(workspaceIdOf(organizationId))) ?? emptyWorkspace(organizationId)
}

function updateWorkspace(context: Context, { state, expectedVersion }: UpdateOperatingWorkspaceInput): Promise<OperatingWorkspaceRow> {
  const { viewer, operatingWorkspaces } = context
  const organizationId = activeOrganization(viewer, what)
  const given = readJson(state, 'state')
  return change(context, {
    of: operatingWorkspaces,
    ...{ id: workspaceIdOf(organizationId), expectedVersion },
    before: ({ now, transaction }) => operatingWorkspaces.provide(organizationId, actorOf(viewer), now, transaction),
    // Every replacement is a version, with the same state too: whoever holds a version knows that nobody wrote since.
    decide: ({ version }) => ({ state: given, version: version + 1 }),
    audit: ({ after }) => ({ tenantId: organizationId, action: 'operating_workspace.updated', subjectId: after.id }),
  })
}

async function saveMemory(context: Context, input: SaveMemoryInput): Promise<MemoryRow> {
  const { viewer, memories, operatingWorkspaces } = context
  const organizationId = activeOrganization(viewer, what)
  const [key, text] = [requireName(input.key, 'key', most.key), requireText(input.text, 'text', most.text)]
  const createdBy = actorOf(viewer)
  return write(context, {
    async run({ now, transaction }) {
      await operatingWorkspaces.provide(organizationId, createdBy, now, transaction)
      // Two that save a new key at once follow each other.
      await operatingWorkspaces.lock(workspaceIdOf(organizationId), transaction)
      const known = await memories.withKey(organizationId, key, transaction)
      const written = { text, updatedById: personOf(createdBy), updatedAt: now }
      if (known) {
        checkVersion(known.version, input.expectedVersion, 'memory')
        return memories.update(known, { ...written, version: known.version + 1 }, transaction)
      }
      requireRoom(await memories.count(organizationId, transaction))
      return memories.insert({ id: newId(now), organizationId, key, ...written, createdAt: now, createdBy }, transaction)
    },
    audit: ({ id, version }) => ({ tenantId: organizationId, action: 'memory.saved', subjectId: id, details: { version } }),
  })
}

/** Engages or releases the kill switch; one that stands so already stays as it is. */
async function setKillSwitch(context: Context, input: SetKillSwitchInput): Promise<OperatingWorkspaceRow> {
  const { viewer, agents, conversationMessages, killSwitches, replies, runs, workFeed, runner } = context
  const organizationId = activeOrganization(viewer, what)
  const agentId = typeof input.agentId === 'string' ? (await agents.require(input.agentId, 'agentId')).id : null
  const reason = readText(input.reason, 'reason', most.reason)
  const createdBy = actorOf(viewer)
  const userId = personOf(createdBy)
  const id = agentId ?? organizationId
  const { engaged } = input
  await write(context, {
    async run({ now, transaction }) {
      const of = { id, organizationId, reason, at: now, userId, createdBy }
      const isNew = engaged ? await killSwitches.engage(of, transaction) : await killSwitches.release(of, transaction)
      if (!isNew) return null
      const title = `The kill switch of ${agentId ? 'an agent' : 'the organization'} was ${engaged ? 'engaged' : 'released'}`
      await workFeed.insert({ organizationId, id: newId(now), at: now, kind: 'KILL_SWITCH', title, actor: createdBy, userId }, transaction)
      if (!engaged) {
        await runs.wakeAll(organizationId, now, transaction)
        await conversationMessages.wakeAll(organizationId, now, transaction)
      }
      return of
    },
    audit: () => ({ tenantId: organizationId, action: `kill_switch.${engaged ? 'engaged' : 'released'}`, subjectId: id, details: { reason } }),
    announce() {
      runner.soon()
      replies.soon()
    },
  })
  return present(context)
}

export const operatingWorkspaceResolvers: Resolvers = {
  Query: { operatingWorkspace: (_, __, context) => present(context) },
  Mutation: {
    updateOperatingWorkspace: (_, { input }, context) => updateWorkspace(context, input),
    saveMemory: (_, { input }, context) => saveMemory(context, input),
    deleteMemory: (_, { input: { id, expectedVersion } }, context) =>
      remove(context, {
        of: context.memories,
        ...{ id, expectedVersion },
        audit: memory => ({ tenantId: memory.organizationId, action: 'memory.deleted', subjectId: memory.id }),
      }),
    setKillSwitch: (_, { input }, context) => setKillSwitch(context, input),
  },
  OperatingWorkspace: {
    memory: ({ organizationId }, page, { memories }) => memories.page('ofOrganization', organizationId, page),
    async killSwitch({ organizationId }, _, { killSwitches }) {
      const found = await killSwitches.byId.load(organizationId)
      const user = found?.userId ? { __typename: 'User' as const, id: found.userId } : null
      return { engaged: found !== null, reason: found?.reason ?? null, at: found?.at ?? null, user }
    },
  },
  Memory: { updatedBy: ({ updatedById }) => (updatedById ? { __typename: 'User', id: updatedById } : null) },
}
