import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, byScope, byScopeEachTheirOwn, change, constant, type Fresh, row } from '../../../access/row.ts'
import { seedKnowledge } from './seed.ts'

const read: readonly Scope[] = ['agents:knowledge.read']
const write: readonly Scope[] = ['agents:knowledge.write']
const managersOwn = 'refused yes refused refused refused yes yes'
const path = '/agents/api/knowledge-sources'
const at = ({ knowledge }: Readonly<Record<string, string>>) => `${path}/${knowledge}`
const atFresh = ({ fresh }: Readonly<Record<string, string>>) => `${path}/${fresh}`

const fresh: Fresh = async ({ graph, owner }) => (await seedKnowledge(graph, { organizationId: owner.organizationId! })).id
const hit = (selection: string) => constant(`{ searchKnowledge(query: "moon", first: 1) { ${selection} } }`)

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedKnowledge(graph, { organizationId: outsider.organizationId! })
    const { id, documentId } = await seedKnowledge(graph, { organizationId: owner.organizationId! })
    return { knowledge: id, document: documentId }
  },
  fields: [
    row('Query.knowledgeSource', read, write, byScope, ids => `{ knowledgeSource(id: "${ids.knowledge}") { id } }`, 'knowledgeSource'),
    row('Query.knowledgeSources', read, write, byScopeEachTheirOwn, constant('{ knowledgeSources { nodes { id } } }'), 'knowledgeSources'),
    row(
      'KnowledgeSource.documents',
      read,
      ['agents:workspace.read'],
      byScope,
      ids => `{ knowledgeSource(id: "${ids.knowledge}") { documents { nodes { id } } } }`,
      'knowledgeSource.documents',
    ),
    row('Query.document', read, write, byScope, ids => `{ document(id: "${ids.document}") { id } }`, 'document'),
    row('Document.source', read, ['agents:workspace.read'], byScope, ids => `{ document(id: "${ids.document}") { source { id } } }`, 'document.source'),
    row('Query.searchKnowledge', read, write, byScopeEachTheirOwn, hit('quote'), 'searchKnowledge'),
    row('KnowledgeHit.document', read, ['agents:workspace.read'], byScopeEachTheirOwn, hit('document { id }'), 'searchKnowledge.document'),
    row(
      'Mutation.createKnowledgeSource',
      write,
      read,
      managersOwn,
      change('createKnowledgeSource', () => 'title: "New", kind: TEXT, text: "Words."', 'id'),
      'createKnowledgeSource',
    ),
    row(
      'Mutation.updateKnowledgeSource',
      write,
      read,
      accountants,
      change('updateKnowledgeSource', ids => `id: "${ids.fresh}", title: "Other"`, 'id'),
      'updateKnowledgeSource',
      fresh,
    ),
    row(
      'Mutation.reindexKnowledgeSource',
      write,
      read,
      accountants,
      change('reindexKnowledgeSource', ids => `id: "${ids.fresh}"`, 'id'),
      'reindexKnowledgeSource',
      fresh,
    ),
    row(
      'Mutation.deleteKnowledgeSource',
      write,
      read,
      accountants,
      change('deleteKnowledgeSource', ids => `id: "${ids.fresh}"`, 'id'),
      'deleteKnowledgeSource',
      fresh,
    ),
  ],
  routes: [
    { at: 'GET /agents/api/knowledge-sources', scopes: read, less: write, cells: byScopeEachTheirOwn, path: () => path },
    {
      at: 'POST /agents/api/knowledge-sources',
      scopes: write,
      less: read,
      cells: managersOwn,
      path: () => path,
      body: () => ({ title: 'New', kind: 'text', text: 'Words.' }),
    },
    {
      at: 'POST /agents/api/knowledge-sources/uploads',
      scopes: write,
      less: read,
      cells: managersOwn,
      path: () => `${path}/uploads?title=New`,
      headers: { 'content-type': 'text/plain' },
      body: () => Buffer.from('Words.'),
    },
    { at: 'GET /agents/api/knowledge-sources/:id', scopes: read, less: write, cells: byScope, path: at },
    { at: 'PUT /agents/api/knowledge-sources/:id', scopes: write, less: read, cells: accountants, path: atFresh, body: () => ({ title: 'Other' }), fresh },
    { at: 'DELETE /agents/api/knowledge-sources/:id', scopes: write, less: read, cells: accountants, path: atFresh, fresh },
    { at: 'POST /agents/api/knowledge-sources/:id/reindex', scopes: write, less: read, cells: accountants, path: ids => `${atFresh(ids)}/reindex`, fresh },
  ],
}
