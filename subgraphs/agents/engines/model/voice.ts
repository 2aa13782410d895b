import type { AgentRow } from '../../stores/agent.ts'
import { hindranceOf } from '../profile/use.ts'
import { ModelFailure } from './failure.ts'
import type { Voice } from './prompt.ts'
import type { ModelWork } from './work.ts'

/**
 * The person in whose style an agent writes; null where it has none.
 * @throws ModelFailure, PROFILE_NOT_ALLOWED, where the profile may not be used by agents at present
 */
export async function voiceOf(
  { personProfiles, profileAuthorizations, clock }: ModelWork,
  { personProfileId, organizationId }: Pick<AgentRow, 'personProfileId' | 'organizationId'>,
): Promise<Voice | null> {
  if (personProfileId === null) return null
  const profile = await personProfiles.byId.load(personProfileId)
  if (!profile || profile.organizationId !== organizationId) return null
  const hindrance =
    profile.status === 'ACTIVE'
      ? hindranceOf(profile, await profileAuthorizations.manyBy('profileId').load(profile.id), { product: 'agents', purpose: null }, clock.now())
      : 'USAGE_NOT_ALLOWED'
  if (hindrance === null) return profile
  const message =
    hindrance === 'AUTHORIZATION_MISSING' ? 'The profile of this agent has no valid authorization.' : 'The profile of this agent may not be used by agents.'
  throw new ModelFailure({ hadNoEffect: true, isFinal: true, code: 'PROFILE_NOT_ALLOWED', message })
}
