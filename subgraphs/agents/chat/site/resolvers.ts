import { change } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, UpdateChatSiteInput } from '../../resolvers.generated.ts'
import { type ChatSiteRow, chatSiteIdOf } from '../../stores/chat/site.ts'
import { readSite } from './rules.ts'

const what = 'The public chat'

/** The site of the active organization, whether or not it was written. */
async function present({ viewer, chatSites, slugOf, clock }: Context): Promise<ChatSiteRow> {
  const organizationId = activeOrganization(viewer, what)
  const id = chatSiteIdOf(organizationId)
  const known = await chatSites.byId.load(id)
  if (known) return known
  const now = clock.now()
  const slug = await slugOf(organizationId)
  return { id, organizationId, slug, enabled: false, personas: [], blockedWords: [], version: 1, createdAt: now, updatedAt: now, createdBy: 'system' }
}

async function updateChatSite(context: Context, input: UpdateChatSiteInput): Promise<ChatSiteRow> {
  const { viewer, chatSites, slugOf } = context
  const organizationId = activeOrganization(viewer, what)
  const slug = await slugOf(organizationId)
  return change(context, {
    of: chatSites,
    ...{ id: chatSiteIdOf(organizationId), expectedVersion: input.expectedVersion },
    before: ({ now, transaction }) => chatSites.provide(organizationId, slug, actorOf(viewer), now, transaction),
    decide: site => ({ ...readSite(input, site), slug }),
    audit: ({ after }) => ({ tenantId: organizationId, action: 'chat_site.updated', subjectId: after.id, details: { enabled: after.enabled } }),
  })
}

export const chatSiteResolvers: Resolvers = {
  Query: { chatSite: (_, __, context) => present(context) },
  Mutation: { updateChatSite: (_, { input }, context) => updateChatSite(context, input) },
  ChatSite: { __resolveReference: ({ id }, { chatSites }) => chatSites.byId.load(id) },
}
