import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { json, type Row, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { notFound, type Rows, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'

export type PersonProfileStatus = 'DRAFT' | 'ACTIVE' | 'ARCHIVED'

/** How somebody writes; null and empty for what is not known. */
export interface WritingStyle {
  readonly tone: string | null
  readonly formality: string | null
  readonly sentenceLength: string | null
  readonly vocabulary: readonly string[]
  readonly dos: readonly string[]
  readonly donts: readonly string[]
  readonly signaturePhrases: readonly string[]
}

/** How somebody speaks; null and empty for what is not known. */
export interface SpeakingStyle {
  readonly pace: string | null
  readonly cadence: string | null
  readonly fillers: readonly string[]
  readonly pronunciations: readonly string[]
}

/** The stored rule for a product and purpose: whether it may use a profile. */
export interface UsagePolicy {
  readonly product: string
  readonly purpose: string | null
  readonly allowed: boolean
  /** ISO 8601. */
  readonly expiresAt: string | null
}

/** A voice at a service that speaks. */
export interface Voice {
  readonly provider: string
  readonly externalId: string
  readonly label: string | null
}

export const personProfiles = table('agents.person_profiles', {
  id: uuid.key,
  organizationId: uuid,
  /** The subject, who sees the profile, as do managers of the organization. */
  subjectId: uuid,
  displayName: text,
  status: text.of<PersonProfileStatus>().or('DRAFT'),
  writingStyle: json.of<WritingStyle>(),
  speakingStyle: json.of<SpeakingStyle>(),
  personaRules: texts.or([]),
  usagePolicies: json.of<readonly UsagePolicy[]>().or([]),
  voiceProfiles: json.of<readonly Voice[]>().or([]),
  activeSnapshotId: uuid.maybe,
  ...stamps,
})

export type PersonProfileRow = Row<typeof personProfiles>

/** Who sees a profile, as SQL on its row: the subject, and owners and admins, while they are active in its organization. */
const seenBy = (profile: string): string =>
  `${profile}.organization_id = :organization and (${profile}.subject_id = :person or :roles::text[] && array['owner', 'admin'])`

/** The same for a row `t` that belongs to a profile by `profile_id`. */
export const seenWithProfile = `exists (select from agents.person_profiles p where p.id = t.profile_id and ${seenBy('p')})`

const lockMaking = transactionLock('agents.person_profiles')
const writtenToday = countByCaller(personProfiles)
const archiveOf = statement(
  `update agents.person_profiles set status = 'ARCHIVED', version = version + 1, updated_at = $3
    where organization_id = $1 and subject_id = $2 and status <> 'ARCHIVED' returning id`,
)

const eraseStatements = [
  'delete from agents.profile_texts where profile_id = $1',
  'delete from agents.profile_sources where profile_id = $1',
  'delete from agents.style_snapshots where profile_id = $1',
  'delete from agents.profile_authorizations where profile_id = $1',
  'update agents.agents set person_profile_id = null where person_profile_id = $1',
].map(statement)

/** Queries of person profiles only. */
function personProfileSql(rows: Rows<typeof personProfiles>) {
  return {
    /** One with this id, under lock. @throws NOT_FOUND for one that the viewer may not see, as for none */
    async requireLocked(id: string, transaction: Transaction): Promise<PersonProfileRow> {
      const profile = await rows.lock(id, transaction)
      if (profile) return profile
      throw notFound(rows.what, id)
    },

    /** Sees to it that nobody else who asks for this makes a profile of the organization before the transaction ends. */
    async lockMaking(organizationId: string, transaction: Transaction): Promise<void> {
      await rows.read(lockMaking, [organizationId], transaction)
    },

    /** Deletes everything that belongs to a profile, and has agents carry it no more. The profile itself is left, under its lock. */
    async eraseBelow(id: string, transaction: Transaction): Promise<void> {
      for (const each of eraseStatements) await rows.read(each, [id], transaction)
    },

    madeBy: writtenToday(rows),

    /** Has the profiles of somebody who left an organization used no more. @returns ids of those that were in use */
    async archiveOf(organizationId: string, subjectId: string, now: Date, transaction: Transaction): Promise<string[]> {
      const archived = await rows.read<{ id: string }>(archiveOf, [organizationId, subjectId, now], transaction)
      return archived.map(({ id }) => id)
    },
  }
}

export const personProfileStore = store(
  personProfiles,
  { what: 'person profile', tenancy: { where: seenBy('t') }, filters: { subjectId: 'eq', status: 'eq' } },
  personProfileSql,
)
