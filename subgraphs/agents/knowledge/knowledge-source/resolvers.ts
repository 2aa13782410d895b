import { DomainError } from '../../../../platform/errors.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { unanswered } from '../../../../platform/outbound/public.ts'
import { change, create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { staleMs } from '../../engines/knowledge/indexing.ts'
import type {
  CreateKnowledgeSourceInput,
  DeleteKnowledgeSourceInput,
  ReindexKnowledgeSourceInput,
  Resolvers,
  UpdateKnowledgeSourceInput,
} from '../../resolvers.generated.ts'
import type { KnowledgeKind, KnowledgeSourceRow } from '../../stores/knowledge/knowledge-source.ts'
import { limits, readActions, readAddress, readKnowledgeText, readLanguage, readTitle, requireMaterial, requireReadable } from './rules.ts'

/** Reads an address that the platform itself will fetch. @throws BAD_USER_INPUT for one that is not public */
async function readPublicAddress({ reaches }: Context, url: URL): Promise<string> {
  const address = readAddress(url, 'url')
  if (await reaches(new URL(address)).catch(unanswered('url'))) return address
  throw new DomainError('BAD_USER_INPUT', 'url leads to no public place: give an address that everybody can open.', { field: 'url' })
}

/** A new source as its caller gives it, already read. */
export interface NewKnowledge extends Pick<KnowledgeSourceRow, 'title' | 'kind' | 'url' | 'visibility' | 'language' | 'actions'> {
  /** What is indexed; null where an address is read. */
  readonly text: string | null
  readonly once: { readonly idempotencyKey?: string | null | undefined }
}

/** Creates a source whose fields were read; once for each key. */
export async function addKnowledge(context: Context, { text, once, ...given }: NewKnowledge): Promise<KnowledgeSourceRow> {
  const { viewer, knowledgeSources } = context
  const organizationId = activeOrganization(viewer, 'Knowledge')
  requireReadable(given.url, given.visibility)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: knowledgeSources,
    once,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await knowledgeSources.madeBy(createdBy, now, limits.sourcesADay, transaction)
      const inAll = await knowledgeSources.countOf(organizationId, transaction)
      requireQuota({ ...written, inAll }, { inAll: limits.sources, aDay: limits.sourcesADay }, 'knowledge sources', 'delete one of them', now)
      if (text !== null) await knowledgeSources.givePending(id, text, transaction)
      return { id, organizationId, ...given, indexAt: now, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id, kind, visibility }) => ({ tenantId: organizationId, action: 'knowledge_source.created', subjectId: id, details: { kind, visibility } }),
    announce: () => context.indexing.soon(),
  })
  return row
}

async function createKnowledgeSource(context: Context, input: CreateKnowledgeSourceInput): Promise<KnowledgeSourceRow> {
  const { kind } = input
  const visibility = input.visibility ?? 'ORGANIZATION'
  requireMaterial(kind, input.text, input.url)
  const facts = {
    title: readTitle(input.title),
    kind: kind as KnowledgeKind,
    visibility,
    language: readLanguage(input.language),
    actions: readActions(input.actions),
  }
  const text = typeof input.text === 'string' ? readKnowledgeText(input.text) : null
  const address = input.url && kind !== 'URL' ? readAddress(input.url, 'url') : null
  return addKnowledge(context, { ...facts, text, url: kind === 'URL' ? await readPublicAddress(context, input.url!) : address, once: input })
}

async function updateKnowledgeSource(context: Context, { id, expectedVersion, ...input }: UpdateKnowledgeSourceInput): Promise<KnowledgeSourceRow> {
  const { knowledgeSources, chunks, indexing } = context
  const seen = await knowledgeSources.require(id)
  const text = typeof input.text === 'string' ? readKnowledgeText(input.text) : null
  if (text !== null && seen.kind === 'URL')
    throw new DomainError('BAD_USER_INPUT', 'The text of a URL source is read from its address: leave text out.', { field: 'text' })
  if (input.url === null && seen.kind === 'URL') throw new DomainError('BAD_USER_INPUT', 'A URL source needs url.', { field: 'url' })
  const url = !input.url ? input.url : seen.kind === 'URL' ? await readPublicAddress(context, input.url) : readAddress(input.url, 'url')
  return change(context, {
    of: knowledgeSources,
    ...{ id, expectedVersion },
    async decide(source, { now, transaction }) {
      const changes = {
        ...(typeof input.title === 'string' && { title: readTitle(input.title) }),
        ...(url !== undefined && { url }),
        ...(input.visibility && { visibility: input.visibility }),
        ...(input.language !== undefined && { language: readLanguage(input.language) }),
        ...(input.actions && { actions: readActions(input.actions) }),
      }
      const after = { ...source, ...changes }
      requireReadable(after.url, after.visibility)
      if (after.visibility !== source.visibility) await chunks.showOfSource(source.id, after.visibility, transaction)
      if (text !== null) await knowledgeSources.givePending(source.id, text, transaction)
      const isIndexed = text === null && after.title === source.title && after.url === source.url && after.language === source.language
      // A process that has the source in hand gives it up: the count of attempts is another one then.
      return isIndexed ? changes : { ...changes, indexAt: now, attempts: 0, ...(source.status === 'FAILED' && { status: 'PENDING' as const, failure: null }) }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'knowledge_source.updated', subjectId: after.id }),
    announce: () => indexing.soon(),
  })
}

const reindexKnowledgeSource = (context: Context, { id, expectedVersion }: ReindexKnowledgeSourceInput): Promise<KnowledgeSourceRow> =>
  change(context, {
    of: context.knowledgeSources,
    ...{ id, expectedVersion },
    decide: ({ status }, { now }) => ({ indexAt: now, attempts: 0, ...(status === 'FAILED' && { status: 'PENDING' as const, failure: null }) }),
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'knowledge_source.reindexed', subjectId: after.id }),
    announce: () => context.indexing.soon(),
  })

const deleteKnowledgeSource = (context: Context, { id, expectedVersion }: DeleteKnowledgeSourceInput): Promise<KnowledgeSourceRow> =>
  remove(context, {
    of: context.knowledgeSources,
    ...{ id, expectedVersion },
    async decide(source, { transaction }) {
      await context.chunks.removeOfSource(source.id, transaction)
      await context.documents.removeOf(source.id, transaction)
      await context.knowledgeSources.dropPending(source.id, transaction)
    },
    audit: source => ({ tenantId: source.organizationId, action: 'knowledge_source.deleted', subjectId: source.id }),
  })

export const knowledgeSourceResolvers: Resolvers = {
  Query: {
    knowledgeSource: (_, { id }, { knowledgeSources }) => knowledgeSources.require(id),
    knowledgeSources(_, { visibility, status, ...page }, { viewer, knowledgeSources }) {
      activeOrganization(viewer, 'Knowledge')
      return knowledgeSources.filtered({ visibility, status }, page)
    },
  },
  Mutation: {
    createKnowledgeSource: (_, { input }, context) => createKnowledgeSource(context, input),
    updateKnowledgeSource: (_, { input }, context) => updateKnowledgeSource(context, input),
    reindexKnowledgeSource: (_, { input }, context) => reindexKnowledgeSource(context, input),
    deleteKnowledgeSource: (_, { input }, context) => deleteKnowledgeSource(context, input),
  },
  KnowledgeSource: {
    __resolveReference: ({ id }, { knowledgeSources }) => knowledgeSources.byId.load(id),
    documents: ({ id }, page, { documents }) => documents.page('ofSource', id, page),
    async chunks({ id }, _, { documents }) {
      return (await documents.manyBy('sourceId').load(id)).reduce((sum, document) => sum + document.chunks, 0)
    },
    stale: ({ kind, status, checkedAt }, _, { clock }) =>
      kind === 'URL' && status === 'READY' && checkedAt !== null && clock.now().getTime() - checkedAt.getTime() > staleMs,
  },
}
