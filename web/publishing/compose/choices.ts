import type { ComposeChoicesQuery } from './compose.generated.ts'

/** A network, as it may be chosen for a post. */
export type NetworkChoice = NonNullable<NonNullable<ComposeChoicesQuery['integrations']>[number]>

/** A campaign that a post may belong to. */
export type CampaignChoice = NonNullable<NonNullable<NonNullable<ComposeChoicesQuery['campaigns']>['nodes']>[number]>
