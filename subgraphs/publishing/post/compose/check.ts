import type { Context } from '../../context.ts'
import type { Problem } from '../../network/content/check.ts'
import { sentText } from '../../network/content/check.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { ComposePostsInput } from '../../resolvers.generated.ts'
import { problemsOfPost } from '../problems.ts'
import { composed } from './drafts.ts'

/** Problems of a composed post on one network. */
export interface Check {
  readonly platform: Platform
  /** Length as the network counts it. */
  readonly length: number
  readonly maxLength: number
  readonly problems: readonly Problem[]
}

/**
 * Returns the problems of each network's post in advance; writes nothing. @throws NOT_FOUND for a campaign of another
 * brand
 */
export async function checkPosts(context: Context, input: ComposePostsInput): Promise<readonly Check[]> {
  const { id: brandId } = await context.brands.require(input.brandId, 'brandId')
  const at = input.scheduledAt ?? context.clock.now()
  const parts = composed(input)
  // Reports the errors that creating the posts would throw.
  const campaignId = parts[0]!.content.campaignId
  if (campaignId) await context.campaigns.seeOf(brandId, campaignId)
  return Promise.all(
    parts.map(async ({ platform, content }) => {
      const rules = everyNetwork[platform].content
      const problems = await problemsOfPost(context, { ...content, brandId, platform, position: 1, id: null, at })
      return { platform, length: rules.measure(sentText(rules, content)), maxLength: rules.copy, problems }
    }),
  )
}
