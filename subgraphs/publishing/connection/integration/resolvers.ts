import { randomBytes } from 'node:crypto'
import { Refusal } from '../../../../platform/errors.ts'
import { registration } from '../../registration.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { requireInUse } from '../../stores/brand.ts'
import { WhoConnectsDocument } from './ask.generated.ts'
import { callbackUrl, connectable } from './rules.ts'

export const integrationResolvers: Resolvers = {
  Mutation: {
    connectIntegration: async (_, { input: { brandId: id, platform } }, context) => {
      const { viewer, browser, brands, networks, authorizations, publicUrl, clock, ask } = context
      const brand = await brands.require(id, 'brandId')
      requireInUse(brand)
      const network = connectable(networks, platform)
      const { userId } = viewer
      if (viewer.kind !== 'user' || !userId) throw new Refusal('FORBIDDEN', 'Only a person connects an account: sign in, then begin again.')
      const state = randomBytes(32).toString('base64url')
      const { url, verifier } = await network.authorize({ redirectUri: callbackUrl(publicUrl, platform), state })
      const { viewer: person } = await ask(WhoConnectsDocument, {}, { appId: registration.appId, viewer })
      const names = { begunBy: person?.user?.name ?? null, organizationName: person?.organization?.name ?? null }
      await authorizations.begin({ state, verifier, brandId: brand.id, platform, userId, browserHash: browser?.fingerprint ?? null, ...names }, clock.now())
      return { authorizationUrl: url }
    },
  },
}
