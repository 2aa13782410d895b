import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { chatSiteIdOf, type Persona } from '../stores/chat/site.ts'

/** Whose the demo is. */
export interface DemoOwner {
  readonly organizationId: string
  readonly userId: string
}

const name = 'Assistant'
const handbook = 'Demo handbook'

const personas: readonly Persona[] = [
  {
    ...{ slug: 'guide', name: 'Guide', greeting: 'Hello! Ask me about the demo.', model: null, default: true },
    instructions: 'Answer from the public sources, in one or two sentences.',
  },
  {
    ...{ slug: 'concierge', name: 'Concierge', greeting: 'Good day. How may I help?', model: 'default', default: false },
    instructions: 'You are the concierge of the demo. Answer politely and shortly, and say so when the sources do not tell.',
  },
]

/**
 * Makes the demo's agent, which answers from the demo's handbook, and its public chat, unless they are there.
 * @param job in the owner's name
 */
export async function provideDemoAgent(job: Job, { organizationId, userId }: DemoOwner): Promise<{ readonly agentId: string }> {
  const { agents, chatSites, slugOf } = job
  const id = idOfName(organizationId, `agent ${name}`)
  const siteId = chatSiteIdOf(organizationId)
  if ((await agents.find(id)) && (await chatSites.find(siteId))) return { agentId: id }
  const slug = await slugOf(organizationId)
  await inTransaction(job, async ({ transaction, now }) => {
    const createdBy = `user:${userId}`
    const stamps = { createdAt: now, updatedAt: now, createdBy }
    await chatSites.provide(organizationId, slug, createdBy, now, transaction)
    // A process that starts at the same moment waits here and finds everything.
    const site = (await chatSites.lock(siteId, transaction))!
    if (site.personas.length === 0) await chatSites.update(site, { enabled: true, personas, version: site.version + 1, updatedAt: now }, transaction)
    if (await agents.lock(id, transaction)) return
    const words = { name, description: 'Answers questions about the demo.', instructions: 'Answer from the sources, in one or two sentences.' }
    const agent = await agents.insert({ id, organizationId, ...words, knowledgeSourceIds: [idOfName(organizationId, handbook)], ...stamps }, transaction)
    await agents.addVersion(agent, userId, transaction)
  })
  return { agentId: id }
}
