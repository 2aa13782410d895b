import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import { bindTenant } from '../../store/tenancy.ts'
import { countByCaller } from '../../store/usage.ts'
import { seenWithProfile } from './person-profile.ts'

export type SourceKind = 'DOCUMENT' | 'TRANSCRIPT' | 'POST' | 'INTERVIEW' | 'URL'
export type SourceStatus = 'PROCESSING' | 'READY' | 'FAILED'

/** Why an address could not be fetched. */
export interface SourceFailure {
  readonly code: 'ADDRESS_REFUSED' | 'UPSTREAM_FAILED' | 'NOT_TEXT' | 'TOO_LARGE' | 'EMPTY'
  readonly message: string
}

/** Sources without their texts, which lie in `agents.profile_texts`. */
export const profileSources = table('agents.profile_sources', {
  profileId: uuid.key,
  id: uuid.key,
  kind: text.of<SourceKind>(),
  title: text,
  url: text.maybe,
  contentHash: text.maybe,
  language: text.maybe,
  status: text.of<SourceStatus>(),
  failure: json.of<SourceFailure>().maybe,
  /** While it is PROCESSING: when it is fetched next. */
  fetchAt: moment.maybe,
  attempts: integer.or(0),
  ...stamps,
})

export type ProfileSourceRow = Row<typeof profileSources>

/** The input of a snapshot. */
export type ReadySource = Pick<ProfileSourceRow, 'id'> & { readonly contentHash: string; readonly characters: number }

const textsOf = `select t.source_id as "sourceId", t.text from agents.profile_texts t where t.source_id = any($1::uuid[])`
const everybodysTexts = statement(textsOf)
const seenTexts = bindTenant(`${textsOf} and ${seenWithProfile}`, 1)
const seenTextsStatement = statement(seenTexts.text)
const writeText = statement('insert into agents.profile_texts (profile_id, source_id, text) values ($1, $2, $3)')
const countOf = statement('select count(*)::int as count from agents.profile_sources where profile_id = $1')
const ready = statement(
  `select s.id, s.content_hash as "contentHash", length(x.text) as characters
     from agents.profile_sources s join agents.profile_texts x on x.profile_id = s.profile_id and x.source_id = s.id
    where s.profile_id = $1 and s.status = 'READY' and ($2::uuid[] is null or s.id = any($2::uuid[])) order by s.created_at, s.id`,
)
const textsOfSome = statement('select t.text from agents.profile_texts t where t.profile_id = $1 and t.source_id = any($2::uuid[])')
const textsWithIds = statement(
  `select t.source_id as "sourceId", t.text from agents.profile_texts t join unnest($2::uuid[]) with ordinality as w (id, place) on w.id = t.source_id
    where t.profile_id = $1 order by w.place`,
)
const removeText = statement('delete from agents.profile_texts where profile_id = $1 and source_id = $2')
const lockDue = statement(
  `select ${selectList(profileSources, 't')} from agents.profile_sources t
    where t.fetch_at <= $1 and t.created_by <> all($2::text[]) order by t.fetch_at limit 1 for no key update skip locked`,
)

const waitingOf = statement('select count(*)::int as count from agents.profile_sources where created_by = $1 and fetch_at is not null')
const lockWaiting = transactionLock('agents.profile_sources')
const writtenToday = countByCaller(profileSources)

/** How many texts one statement reads, of 600 kB each at most: what an operation may not hold any more is not asked for. */
const mostTexts = 10

/** Returns the statements that only sources have. */
function profileSourceSql(rows: Rows<typeof profileSources>, { reading, viewer }: StoreContext) {
  return {
    /** The text of a source, by its id; null while it has none. */
    texts: createLoader<string, string | null>(
      reading,
      async ids => {
        const found = viewer
          ? await rows.read<{ sourceId: string; text: string }>(seenTextsStatement, seenTexts.values([ids], viewer))
          : await rows.read<{ sourceId: string; text: string }>(everybodysTexts, [ids])
        const byId = new Map(found.map(({ sourceId, text }) => [sourceId, text]))
        return ids.map(id => byId.get(id) ?? null)
      },
      mostTexts,
    ),

    /** Writes the text of a source, which has none yet. */
    async writeText({ profileId, id }: Pick<ProfileSourceRow, 'profileId' | 'id'>, text: string, transaction: Transaction): Promise<void> {
      await rows.read(writeText, [profileId, id, text], transaction)
    },

    /** How many a profile has; whoever holds the profile may rely on it. */
    async countOf(profileId: string, transaction: Transaction): Promise<number> {
      const [row] = await rows.read<{ count: number }>(countOf, [profileId], transaction)
      return row!.count
    },

    /** What of a profile is READY, the oldest first; for whoever may see the profile. @param ids only these; null: all @throws once nobody waits for it any more */
    async readyOf(profileId: string, ids: readonly string[] | null): Promise<ReadySource[]> {
      reading.signal.throwIfAborted()
      return rows.read<ReadySource>(ready, [profileId, ids])
    },

    /** The texts of some sources of a profile, in no order; for whoever may see the profile. @throws once nobody waits for them any more */
    async textsOf(profileId: string, ids: readonly string[]): Promise<string[]> {
      reading.signal.throwIfAborted()
      const found = await rows.read<{ text: string }>(textsOfSome, [profileId, ids])
      return found.map(({ text }) => text)
    },

    /** The texts of some sources of a profile with their ids, in the given order; for whoever may see the profile. @throws once nobody waits for them any more */
    async readyTexts(profileId: string, ids: readonly string[]): Promise<{ readonly sourceId: string; readonly text: string }[]> {
      reading.signal.throwIfAborted()
      return rows.read<{ sourceId: string; text: string }>(textsWithIds, [profileId, ids])
    },

    /** Deletes the text of a source. */
    async removeText({ profileId, id }: Pick<ProfileSourceRow, 'profileId' | 'id'>, transaction: Transaction): Promise<void> {
      await rows.read(removeText, [profileId, id], transaction)
    },

    madeBy: writtenToday(rows),

    /** How many of somebody's are still to be fetched. Nobody counts them before the transaction ends. */
    async waitingOf(createdBy: string, transaction: Transaction): Promise<number> {
      await rows.read(lockWaiting, [createdBy], transaction)
      const [row] = await rows.read<{ count: number }>(waitingOf, [createdBy], transaction)
      return row!.count
    },

    /** Locks a source that is due and unclaimed; null if there is none. @param without people of whom none is wanted */
    async lockDue(now: Date, without: readonly string[], transaction: Transaction): Promise<ProfileSourceRow | null> {
      const [due] = await rows.read(lockDue, [now, without], transaction)
      return due ?? null
    },
  }
}

export const profileSourceStore = store(
  profileSources,
  {
    what: 'profile source',
    tenancy: { where: seenWithProfile },
    lists: { ofProfile: { below: 'profileId', order: 'newest first' } },
  },
  profileSourceSql,
)
