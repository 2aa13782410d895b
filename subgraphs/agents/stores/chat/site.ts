import type { Transaction } from 'sequelize'
import { idOfName } from '../../../../platform/ids.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Who answers visitors. */
export interface Persona {
  readonly slug: string
  readonly name: string
  readonly greeting: string
  readonly instructions: string
  /** Null: it never asks a model. */
  readonly model: string | null
  readonly default: boolean
}

export const chatSites = table('agents.chat_sites', {
  id: uuid.key,
  organizationId: uuid,
  slug: text,
  enabled: truth.or(false),
  personas: json.of<readonly Persona[]>().or([]),
  blockedWords: texts.or([]),
  ...stamps,
})

export type ChatSiteRow = Row<typeof chatSites>

/** The id of an organization's chat site: known before it is written. */
export const chatSiteIdOf = (organizationId: string): string => idOfName(organizationId, 'chat site')

const columns = selectList(chatSites, 't')
const bySlug = statement(`select ${columns} from agents.chat_sites t where t.slug = $1 and t.enabled order by t.updated_at desc limit 1`)
const provide = statement(
  `insert into agents.chat_sites (id, organization_id, slug, created_at, updated_at, created_by) values ($1, $2, $3, $4, $4, $5) on conflict (id) do nothing`,
)

const siteSql = (rows: Rows<typeof chatSites>) => ({
  /** The site that visitors know by this name, where it is enabled. */
  async withSlug(slug: string): Promise<ChatSiteRow | null> {
    const [found] = await rows.read(bySlug, [slug])
    return found ?? null
  },

  /** Writes the site of an organization, switched off, unless it is there. */
  async provide(organizationId: string, slug: string, createdBy: string, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(provide, [chatSiteIdOf(organizationId), organizationId, slug, now, createdBy], transaction)
  },
})

export const chatSiteStore = store(chatSites, { what: 'chat site', tenancy: { by: 'organizationId' } }, siteSql)
