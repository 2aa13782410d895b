import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, publicRoute, row, unrelated } from '../../../access/row.ts'
import { seedSession } from './seed.ts'
import { seedSite } from './visitor.ts'

const read: readonly Scope[] = ['agents:agents.read']
const write: readonly Scope[] = ['agents:agents.write']
const managersOwn = 'refused yes refused refused refused yes yes'
/** Owners and admins, each of their own organization: no key has their role. */
const managersAlone = 'refused refused refused refused refused yes yes'
const managersOfIt = 'refused refused refused refused refused yes hidden'

const chat = '/agents/api/public/chat'
const sessions = '/agents/api/chat-sessions'

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedSession(graph, outsider.organizationId!)
    for (const [{ organizationId }, slug] of [
      [owner, 'acme'],
      [outsider, 'elsewhere'],
    ] as const)
      await seedSite(graph, { organizationId: organizationId!, slug })
    return { chatSession: await seedSession(graph, owner.organizationId!) }
  },
  fields: [
    row('Query.chatSite', read, write, byScopeEachTheirOwn, constant('{ chatSite { slug } }'), 'chatSite'),
    row(
      'Mutation.updateChatSite',
      write,
      read,
      managersOwn,
      change('updateChatSite', () => 'enabled: false', 'id'),
      'updateChatSite',
    ),
    row('Query.chatSession', all, unrelated, managersOfIt, ids => `{ chatSession(id: "${ids.chatSession}") { id } }`, 'chatSession'),
    row('Query.chatSessions', all, unrelated, managersAlone, constant('{ chatSessions { nodes { id } } }'), 'chatSessions'),
  ],
  routes: [
    { at: `GET ${sessions}`, scopes: all, less: unrelated, cells: managersAlone, path: () => sessions },
    { at: `GET ${sessions}/:id`, scopes: all, less: unrelated, cells: managersOfIt, path: ({ chatSession }) => `${sessions}/${chatSession}` },
    { at: `GET ${chat}/challenge`, scopes: all, less: unrelated, cells: publicRoute, path: () => `${chat}/challenge` },
    { at: `GET ${chat}/personas`, scopes: all, less: unrelated, cells: publicRoute, path: () => `${chat}/personas` },
    { at: `POST ${chat}`, scopes: all, less: unrelated, cells: publicRoute, path: () => chat, body: () => ({}) },
    { at: `POST ${chat}/feedback`, scopes: all, less: unrelated, cells: publicRoute, path: () => `${chat}/feedback`, body: () => ({}) },
  ],
}
