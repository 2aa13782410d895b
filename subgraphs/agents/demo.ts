import { idOfName } from '../../platform/ids.ts'
import type { Deletion, Run } from '../store/removal.ts'
import { inTransaction } from '../store/write.ts'
import type { Job } from './context.ts'
import { hashOf } from './profile/profile-source/rules.ts'
import { measure } from './profile/style-snapshot/measures.ts'
import { digestOf } from './profile/style-snapshot/take.ts'
import type { SpeakingStyle, WritingStyle } from './stores/person-profile.ts'

const displayName = 'Demo voice'

const writingStyle: WritingStyle = {
  tone: 'warm and plain',
  formality: 'informal',
  sentenceLength: 'short, with a longer one now and then',
  vocabulary: ['supergraph', 'handover', 'small step'],
  dos: ['begin with what changes for the reader', 'name who does what'],
  donts: ['promise a date', 'stack adjectives'],
  signaturePhrases: ['one step, then the next'],
}

const speakingStyle: SpeakingStyle = {
  pace: 'unhurried',
  cadence: 'falls at the end of a sentence',
  fillers: ['right', 'so'],
  pronunciations: ['GraphQL as graph-cue-ell'],
}

/** What the demo's person has written and said, the older first. */
const demoSources = [
  {
    mark: 'demo-note',
    kind: 'DOCUMENT',
    title: 'Note on handovers',
    text: 'A handover is a promise between two people. Write down what is done, what is not, and who decides next! Everything else can wait.',
  },
  {
    mark: 'demo-talk',
    kind: 'TRANSCRIPT',
    title: 'Talk at the office hours',
    text: 'So, where do we begin? One step, then the next. We moved the first service in a week, and nobody noticed. That was the point.',
  },
] as const

/** Whose the demo is. */
export interface DemoOwner {
  readonly organizationId: string
  readonly userId: string
  /** The person whom the profile is about. */
  readonly subjectId: string
}

/** Makes the demo's person profile with its sources and snapshot, unless it is there. @param job in the owner's name */
export async function provideDemo(job: Job, { organizationId, userId, subjectId }: DemoOwner): Promise<{ readonly personProfileId: string }> {
  const { personProfiles, profileAuthorizations, profileSources, styleSnapshots } = job
  const id = idOfName(organizationId, displayName)
  if (await personProfiles.find(id)) return { personProfileId: id }
  await inTransaction(job, async ({ transaction, now }) => {
    // A process that starts at the same moment waits here and finds everything.
    await personProfiles.lockMaking(organizationId, transaction)
    if (await personProfiles.lock(id, transaction)) return
    const createdBy = `user:${userId}`
    const stamps = { createdAt: now, updatedAt: now, createdBy }
    const sources = demoSources.map(source => ({ ...source, id: idOfName(id, source.mark), contentHash: hashOf(source.text) }))
    for (const [index, { mark: _, text, ...source }] of sources.entries()) {
      // The first one found is the older one.
      const createdAt = new Date(now.getTime() - (sources.length - index))
      await profileSources.insert({ profileId: id, ...source, status: 'READY', ...stamps, createdAt }, transaction)
      await profileSources.writeText({ profileId: id, id: source.id }, text, transaction)
    }
    const consent = { kind: 'CONSENT', reference: 'Signed form in the personnel file', grantedBy: 'Mia Member', grantedAt: now } as const
    await profileAuthorizations.insert({ profileId: id, id: idOfName(id, 'demo-consent'), ...consent, ...stamps }, transaction)
    const snapshotId = idOfName(id, 'demo-snapshot')
    const digest = digestOf(
      { writingStyle, speakingStyle },
      sources.map(({ contentHash }) => contentHash),
    )
    const taken = { number: 1, sourceIds: sources.map(source => source.id), measures: measure(sources.map(({ text }) => text)), digest }
    await styleSnapshots.insert({ profileId: id, id: snapshotId, writingStyle, speakingStyle, ...taken, ...stamps }, transaction)
    const place = { id, organizationId, subjectId, displayName, status: 'ACTIVE', activeSnapshotId: snapshotId } as const
    const personaRules = ['Never speaks for the whole company.', 'Says so when something is not known.']
    const usagePolicies = [{ product: 'publishing', purpose: null, allowed: true, expiresAt: null }]
    const voiceProfiles = [{ provider: 'voices', externalId: 'demo-voice-1', label: 'Studio' }]
    await personProfiles.insert({ ...place, writingStyle, speakingStyle, personaRules, usagePolicies, voiceProfiles, ...stamps }, transaction)
  })
  return { personProfileId: id }
}

/** Rows of agents that are deleted with organizations, beside the organizations' own: everything of their profiles. */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  const profiles = await run<{ id: string }>('select id from agents.person_profiles where organization_id = any($1::uuid[])', [organizations])
  const ids = profiles.map(({ id }) => id)
  const below = ['profile_authorizations', 'profile_sources', 'profile_texts', 'style_snapshots'].map(table => ({
    sql: `delete from agents.${table} where profile_id = any($1::uuid[])`,
    bind: [ids],
  }))
  // Read now: the rows that name the organization are deleted first.
  const idsOf = async (table: string) =>
    (await run<{ id: string }>(`select id from agents.${table} where organization_id = any($1::uuid[])`, [organizations])).map(({ id }) => id)
  const texts = [
    { sql: 'delete from agents.document_texts where document_id = any($1::uuid[])', bind: [await idsOf('documents')] },
    { sql: 'delete from agents.knowledge_texts where source_id = any($1::uuid[])', bind: [await idsOf('knowledge_sources')] },
  ]
  const versions = { sql: 'delete from agents.agent_versions where agent_id = any($1::uuid[])', bind: [await idsOf('agents')] }
  return [...below, ...texts, versions]
}
