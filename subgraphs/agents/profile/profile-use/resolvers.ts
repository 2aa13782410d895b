import { DomainError } from '../../../../platform/errors.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { write } from '../../../store/write.ts'
import { activeOrganization, actorOf, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { type Draft, draft } from '../../engines/draft/draft.ts'
import type { ApplyPersonProfileInput, PreviewPersonProfileInput, Resolvers } from '../../resolvers.generated.ts'
import { readWish, requireStatus, requireUse } from './rules.ts'

async function previewPersonProfile(context: Context, input: PreviewPersonProfileInput) {
  const { viewer, personProfiles, profileAuthorizations, clock, leaving } = context
  const { use, wish } = readWish(input)
  const forUser = requirePerson(viewer)
  const profile = await personProfiles.require(input.id)
  requireUse(profile, await profileAuthorizations.manyBy('profileId').load(profile.id), use, clock.now())
  requireStatus(profile, ['DRAFT', 'ACTIVE'])
  const { citations, ...written } = await draft(context, profile, { ...wish, mode: input.mode ?? 'AUTO', forUser, signal: leaving })
  const cited = citations.map(async ({ sourceId, ...place }) => ({ ...place, source: await context.profileSources.byId.load(sourceId) }))
  return { ...written, citations: await Promise.all(cited) }
}

/** Writes a text for a product. It reads as a job: the person on whose behalf it is asked may not see the profile. */
async function applyPersonProfile(context: Context, input: ApplyPersonProfileInput): Promise<Draft> {
  const { viewer, jobFor, clock, leaving } = context
  const organizationId = activeOrganization(viewer, 'Person profiles')
  const { use, wish } = readWish(input)
  const id = requireId(input.id, 'id')
  if (viewer.appId !== `app_${use.product}`)
    throw new DomainError('FORBIDDEN', `product is the app that asks, without app_: ${viewer.appId} is not ${use.product}.`, { field: 'product' })
  const job = jobFor(actorOf(viewer))
  const profile = await job.personProfiles.find(id)
  if (profile?.organizationId !== organizationId) throw notFound('person profile', id)
  requireUse(profile, await job.profileAuthorizations.manyBy('profileId').load(id), use, clock.now())
  requireStatus(profile, ['ACTIVE'])
  const made = await draft(job, profile, { ...wish, mode: 'AUTO', forUser: viewer.onBehalfOf ?? viewer.forUser, signal: leaving })
  await write(job, {
    async run({ transaction, now }) {
      const line = { organizationId, id: newId(now), at: now, kind: 'PROFILE_APPLIED', title: `A person profile was applied by ${use.product}` } as const
      await job.workFeed.insert({ ...line, actor: actorOf(viewer) }, transaction)
    },
  })
  return made
}

export const profileUseResolvers: Resolvers = {
  Mutation: {
    previewPersonProfile: (_, { input }, context) => previewPersonProfile(context, input),
    applyPersonProfile: (_, { input }, context) => applyPersonProfile(context, input),
  },
}
