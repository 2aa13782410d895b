import type { Context } from '../../context.ts'
import type { Problem } from '../../network/content/check.ts'
import { sentText } from '../../network/content/check.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { ComposePostsInput } from '../../resolvers.generated.ts'
import { problemsOfPost } from '../problems.ts'
import { composed } from './drafts.ts'

/** What a network would say of a post that is composed. */
export interface Check {
  readonly platform: Platform
  /** As the network counts. */
  readonly length: number
  readonly maxLength: number
  readonly problems: readonly Problem[]
}

/** Says beforehand what each network would object to; nothing is written. @throws NOT_FOUND for a campaign that is not the brand's */
export async function checkPosts(context: Context, input: ComposePostsInput): Promise<readonly Check[]> {
  const { id: brandId } = await context.brands.require(input.brandId, 'brandId')
  const at = input.scheduledAt ?? context.clock.now()
  const parts = composed(input)
  // Reports what writing it would refuse.
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
