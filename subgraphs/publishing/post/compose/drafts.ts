import { DomainError } from '../../../../platform/errors.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { ComposeOverrideInput, ComposePostsInput } from '../../resolvers.generated.ts'
import { type Written, written } from '../content.ts'

/** The content for one network. */
export interface Composed {
  readonly platform: Platform
  readonly content: Written
}

/**
 * Returns the content for each network: the common fields, with the network's overrides.
 * @throws BAD_USER_INPUT for no network, for a network that is named twice, and for an override of a network that is
 * not named
 */
export function composed(input: ComposePostsInput): readonly Composed[] {
  const { platforms, overrides } = input
  if (platforms.length === 0 || new Set(platforms).size < platforms.length)
    throw new DomainError('BAD_USER_INPUT', 'platforms names each network once that the post is for, and one at least.', { field: 'platforms' })
  const own = new Map<Platform, ComposeOverrideInput>()
  for (const override of overrides ?? []) {
    const { platform } = override
    if (!platforms.includes(platform) || own.has(platform))
      throw new DomainError('BAD_USER_INPUT', `overrides names ${platform}, which is not one of platforms, or is named twice.`, { field: 'overrides' })
    own.set(platform, override)
  }
  return platforms.map(platform => ({ platform, content: contentFor(input, platform, own.get(platform)) }))
}

function contentFor(input: ComposePostsInput, platform: Platform, override: ComposeOverrideInput | undefined): Written {
  const { copy, title, link, tags, media, firstComment, campaignId } = input
  // Few networks have a visibility setting; for the others it is omitted, and an override that sets it is refused.
  const visibility = everyNetwork[platform].content.visibility === null ? undefined : input.visibility
  const { platform: _, copy: ownCopy, ...rest } = override ?? { platform }
  const told = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return written({ copy: ownCopy ?? copy, title, link, tags, visibility, media, firstComment, campaignId, ...told }, platform, null)
}
