import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import { bindTenant } from '../../../store/tenancy.ts'

/** Documents without their texts, which lie in `agents.document_texts`. */
export const documents = table('agents.documents', {
  id: uuid.key,
  organizationId: uuid,
  sourceId: uuid,
  title: text,
  url: text.maybe,
  contentHash: text,
  /** Text search configuration of PostgreSQL with which it was indexed. */
  searchConfig: text,
  chunks: integer,
  indexedAt: moment,
  ...stamps,
})

export type DocumentRow = Row<typeof documents>

const textsOf = `select d.document_id as id, d.text from agents.document_texts d where d.document_id = any($1::uuid[])`
const everybodysTexts = statement(textsOf)
const seenTexts = bindTenant(`${textsOf} and exists (select from agents.documents t where t.id = d.document_id and t.organization_id = :organization)`, 1)
const seenTextsStatement = statement(seenTexts.text)
const ofSource = statement(`select ${selectList(documents, 't')} from agents.documents t where t.source_id = $1 order by t.created_at, t.id`)
const textOf = statement(
  'select d.text from agents.documents t join agents.document_texts d on d.document_id = t.id where t.source_id = $1 order by t.created_at, t.id limit 1',
)
const writeText = statement(
  `insert into agents.document_texts (document_id, text) values ($1, $2) on conflict (document_id) do update set text = excluded.text`,
)
const removeOf = statement('delete from agents.documents where source_id = $1 returning id')
const removeTexts = statement('delete from agents.document_texts where document_id = any($1::uuid[])')

/** Maximum texts of one statement, each up to 1 MiB. */
const maxTexts = 8

const documentSql = (rows: Rows<typeof documents>, { reading, viewer }: StoreContext) => ({
  /** Loads the text of a document by its id. */
  texts: createLoader<string, string | null>(
    reading,
    async ids => {
      const found = viewer
        ? await rows.read<{ id: string; text: string }>(seenTextsStatement, seenTexts.values([ids], viewer))
        : await rows.read<{ id: string; text: string }>(everybodysTexts, [ids])
      const byId = new Map(found.map(({ id, text }) => [id, text]))
      return ids.map(id => byId.get(id) ?? null)
    },
    maxTexts,
  ),

  /** Returns the documents of a source, the oldest first. */
  ofSource: (sourceId: string, transaction: Transaction): Promise<DocumentRow[]> => rows.read(ofSource, [sourceId], transaction),

  /** Returns the text of a source's document; null before it is indexed. For whoever may see the source. */
  async textOf(sourceId: string): Promise<string | null> {
    const [found] = await rows.read<{ text: string }>(textOf, [sourceId])
    return found?.text ?? null
  },

  async writeText(id: string, text: string, transaction: Transaction): Promise<void> {
    await rows.read(writeText, [id, text], transaction)
  },

  /** Deletes the documents of a source with their texts. */
  async removeOf(sourceId: string, transaction: Transaction): Promise<void> {
    const ids = (await rows.read<{ id: string }>(removeOf, [sourceId], transaction)).map(({ id }) => id)
    await rows.read(removeTexts, [ids], transaction)
  },
})

export const documentStore = store(
  documents,
  {
    what: 'document',
    tenancy: { by: 'organizationId' },
    lists: { ofSource: { below: 'sourceId', order: 'newest first' } },
    manyBy: { sourceId: 't.created_at, t.id' },
  },
  documentSql,
)
