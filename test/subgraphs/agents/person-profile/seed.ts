import { newId } from '../../../../platform/ids.ts'
import { hashOf } from '../../../../subgraphs/agents/profile/profile-source/rules.ts'
import { measure } from '../../../../subgraphs/agents/profile/style-snapshot/measures.ts'
import { digestOf } from '../../../../subgraphs/agents/profile/style-snapshot/take.ts'
import type { SpeakingStyle, WritingStyle } from '../../../../subgraphs/agents/stores/person-profile.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

const writingStyle: WritingStyle = { tone: 'dry', formality: null, sentenceLength: null, vocabulary: [], dos: [], donts: [], signaturePhrases: [] }
const speakingStyle: SpeakingStyle = { pace: null, cadence: null, fillers: [], pronunciations: [] }

/** An active profile with a consent, one source and a snapshot of it, past every rule. @returns the ids of all four */
export async function seedProfile(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, subjectId }: { organizationId: string; subjectId: string },
): Promise<{ readonly id: string; readonly sourceId: string; readonly snapshotId: string; readonly authorizationId: string }> {
  const now = clock.now()
  const createdBy = `user:${subjectId}`
  const stamps = { createdAt: now, updatedAt: now, createdBy }
  const job = platform.agents.job(createdBy)
  const [id, sourceId, snapshotId, authorizationId] = [newId(now), newId(now), newId(now), newId(now)]
  const text = 'One step, then the next.'
  await inTransaction(job, async ({ transaction }) => {
    const contentHash = hashOf(text)
    await job.profileSources.insert({ profileId: id, id: sourceId, kind: 'POST', title: 'A post', contentHash, status: 'READY', ...stamps }, transaction)
    await job.profileSources.writeText({ profileId: id, id: sourceId }, text, transaction)
    await job.profileAuthorizations.insert({ profileId: id, id: authorizationId, kind: 'CONSENT', reference: 'a form', grantedAt: now, ...stamps }, transaction)
    const taken = { number: 1, sourceIds: [sourceId], measures: measure([text]), digest: digestOf({ writingStyle, speakingStyle }, [contentHash]) }
    await job.styleSnapshots.insert({ profileId: id, id: snapshotId, writingStyle, speakingStyle, ...taken, ...stamps }, transaction)
    const usagePolicies = [{ product: 'publishing', purpose: null, allowed: true, expiresAt: null }]
    const voiceProfiles = [{ provider: 'voices', externalId: 'voice-1', label: null }]
    const place = { id, organizationId, subjectId, displayName: 'A voice', status: 'ACTIVE', activeSnapshotId: snapshotId } as const
    await job.personProfiles.insert({ ...place, writingStyle, speakingStyle, usagePolicies, voiceProfiles, ...stamps }, transaction)
  })
  return { id, sourceId, snapshotId, authorizationId }
}
