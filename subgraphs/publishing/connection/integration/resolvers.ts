import { randomBytes } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { mostPlaces } from '../../network/account/account.ts'
import type { Found } from '../../network/account/applications.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork, platforms } from '../../network/networks.ts'
import { registration } from '../../registration.ts'
import type { Integration, Resolvers } from '../../resolvers.generated.ts'
import { requireInUse } from '../../stores/brand.ts'
import { type ConnectionRow, mostConnections } from '../../stores/connection.ts'
import { WhoConnectsDocument } from './ask.generated.ts'
import { attentionOf, standingOf } from './readiness.ts'
import { callbackUrl, connectable } from './rules.ts'

/** Returns one network with its connections. */
function integrationOf({ environment }: Context, platform: Platform, found: Found, connections: readonly ConnectionRow[]) {
  const { title, capabilities, content } = everyNetwork[platform]
  const { media } = content
  const active = connections.filter(connection => connection.active)
  return {
    platform,
    title,
    application: found.application !== null,
    ...standingOf(platform, found, connections, environment),
    connected: active.length > 0,
    attention: attentionOf(platform, found.application !== null || !found.isKnown, connections),
    connections: connections.slice(0, mostConnections),
    targets: active
      .flatMap(({ id, targets }) => targets.map(target => ({ ...target, connectionId: id })))
      .toSorted((a, b) => Number(b.selected) - Number(a.selected))
      .slice(0, mostPlaces),
    capabilities: { ...capabilities, text: media.least === 0, images: media.images > 0, video: media.videos > 0 },
    limits: { copy: content.copy, images: media.images, videos: media.videos, videoSeconds: media.film?.seconds[1] ?? null },
  } satisfies Omit<Integration, 'connections'> & { connections: readonly ConnectionRow[] }
}

export const integrationResolvers: Resolvers = {
  Query: {
    integrations: async (_, { brandId }, context) => {
      const { applications, brands, connections, viewer } = context
      const organizationId = activeOrganization(viewer, 'Integrations')
      const brand = brandId == null ? null : await brands.require(brandId, 'brandId')
      const [all, ...found] = await Promise.all([
        brand ? connections.manyBy('brandId').load(brand.id) : connections.ofOrganization(organizationId),
        ...platforms.map(platform => applications.find(platform, organizationId)),
      ])
      const byPlatform = Map.groupBy(all, connection => connection.platform)
      return platforms.map((platform, at) => integrationOf(context, platform, found[at]!, byPlatform.get(platform) ?? []))
    },
  },
  Mutation: {
    connectIntegration: async (_, { input: { brandId: id, platform } }, context) => {
      const { applications, viewer, browser, brands, authorizations, publicUrl, clock, ask } = context
      const brand = await brands.require(id, 'brandId')
      requireInUse(brand)
      const { network } = connectable(await applications.find(platform, brand.organizationId), platform, context)
      const { userId } = viewer
      if (viewer.kind !== 'user' || !userId) throw new DomainError('FORBIDDEN', 'Only a person connects an account: sign in, then begin again.')
      const state = randomBytes(32).toString('base64url')
      const { url, verifier } = await network.authorize({ redirectUri: callbackUrl(publicUrl, platform), state })
      const { viewer: person } = await ask(WhoConnectsDocument, {}, { appId: registration.appId, viewer })
      const names = { begunBy: person?.user?.name ?? null, organizationName: person?.organization?.name ?? null }
      await authorizations.begin({ state, verifier, brandId: brand.id, platform, userId, browserHash: browser?.fingerprint ?? null, ...names }, clock.now())
      return { authorizationUrl: url }
    },
  },
}
