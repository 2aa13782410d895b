import type { FieldRow, Ids, RouteRow, Stage } from './row.ts'

/** The nouns that have rows, each after those of which it makes something; a noun that is not listed lacks its rows, as `matrix.test.ts` then says field by field. */
const nouns = await Promise.all([
  import('../subgraphs/agents/connector/access.ts'),
  import('../subgraphs/agents/person-profile/access.ts'),
  import('../subgraphs/agents/profile-source/access.ts'),
  import('../subgraphs/agents/style-snapshot/access.ts'),
  import('../subgraphs/agents/agent/access.ts'),
  import('../subgraphs/agents/profile-use/access.ts'),
  import('../subgraphs/agents/knowledge/access.ts'),
  import('../subgraphs/agents/conversation/access.ts'),
  import('../subgraphs/agents/chat/access.ts'),
  import('../subgraphs/agents/workflow/access.ts'),
  import('../subgraphs/agents/action/access.ts'),
  import('../subgraphs/agents/widget/access.ts'),
  import('../subgraphs/agents/workspace/access.ts'),
  import('../subgraphs/identity/account/access.ts'),
  import('../subgraphs/identity/api-key/access.ts'),
  import('../subgraphs/identity/audit/access.ts'),
  import('../subgraphs/identity/credentials/access.ts'),
  import('../subgraphs/identity/membership/access.ts'),
  import('../subgraphs/identity/credentials/oauth/access.ts'),
  import('../subgraphs/identity/organization/access.ts'),
  import('../subgraphs/identity/service-entry/access.ts'),
  import('../subgraphs/identity/session/access.ts'),
  import('../subgraphs/identity/session/handoff/access.ts'),
  import('../subgraphs/identity/setup/access.ts'),
  import('../subgraphs/identity/user/access.ts'),
  import('../subgraphs/identity/user/viewer/access.ts'),
  import('../subgraphs/launcher/action-item/access.ts'),
  import('../subgraphs/launcher/catalog/access.ts'),
  import('../subgraphs/launcher/commerce/access.ts'),
  import('../subgraphs/launcher/dashboard/access.ts'),
  import('../subgraphs/launcher/marketing/access.ts'),
  import('../subgraphs/launcher/launch/access.ts'),
  import('../subgraphs/launcher/launch/workflow/access.ts'),
  import('../subgraphs/launcher/dashboard/announcement/access.ts'),
  import('../subgraphs/launcher/dashboard/links/access.ts'),
  import('../subgraphs/launcher/dashboard/settings/access.ts'),
  import('../subgraphs/launcher/dashboard/household/access.ts'),
  import('../subgraphs/launcher/dashboard/own-widget/access.ts'),
  import('../subgraphs/launcher/dashboard/workspace/access.ts'),
  import('../subgraphs/launcher/notification/access.ts'),
  import('../subgraphs/launcher/widget/access.ts'),
  import('../subgraphs/payments/order/access.ts'),
  import('../subgraphs/payments/ledger/access.ts'),
  import('../subgraphs/payments/payment/access.ts'),
  import('../subgraphs/payments/invoicing/access.ts'),
  import('../subgraphs/payments/events/access.ts'),
  import('../subgraphs/payments/checkout/access.ts'),
  import('../subgraphs/payments/dispute/access.ts'),
  import('../subgraphs/payments/webhook/access.ts'),
  import('../subgraphs/payments/parties/merchant/access.ts'),
  import('../subgraphs/payments/parties/venue/access.ts'),
  import('../subgraphs/payments/parties/customer/access.ts'),
  import('../subgraphs/payments/admin/audit/access.ts'),
  import('../subgraphs/payments/admin/settings/access.ts'),
  import('../subgraphs/payments/reports/access.ts'),
  import('../subgraphs/payments/service-identity/access.ts'),
  import('../subgraphs/payments/session/access.ts'),
  import('../subgraphs/payments/settlement/access.ts'),
  import('../subgraphs/payments/widget/access.ts'),
  import('../subgraphs/providers/administration/organization/access.ts'),
  import('../subgraphs/providers/administration/service-client/access.ts'),
  import('../subgraphs/providers/ai/access.ts'),
  import('../subgraphs/providers/call/access.ts'),
  import('../subgraphs/providers/credential/access.ts'),
  import('../subgraphs/providers/spend/access.ts'),
  import('../subgraphs/providers/processor/access.ts'),
  import('../subgraphs/providers/email/access.ts'),
  import('../subgraphs/providers/model/access.ts'),
  import('../subgraphs/providers/video/access.ts'),
  import('../subgraphs/providers/call/widget/access.ts'),
  import('../subgraphs/publishing/brand/access.ts'),
  import('../subgraphs/publishing/connection/access.ts'),
  import('../subgraphs/publishing/delivery/access.ts'),
  import('../subgraphs/publishing/integration/access.ts'),
  import('../subgraphs/publishing/post/access.ts'),
  import('../subgraphs/publishing/planning/access.ts'),
  import('../subgraphs/publishing/news/access.ts'),
  import('../subgraphs/publishing/insight/access.ts'),
  import('../subgraphs/publishing/media/access.ts'),
  import('../subgraphs/publishing/widget/access.ts'),
])

const fields: readonly FieldRow[] = nouns.flatMap(({ access }) => access.fields ?? [])
const isRoot = ({ at }: FieldRow) => /^(?:Query|Mutation|Subscription)\./.test(at)

/** Root fields first: what follows from a row is derived from the first that reaches a type. */
export const fieldRows: readonly FieldRow[] = [...fields.filter(isRoot), ...fields.filter(row => !isRoot(row))]
export const routeRows: readonly RouteRow[] = nouns.flatMap(({ access }) => access.routes ?? [])

/** Makes what the rows ask about. */
export async function makeAll(stage: Stage): Promise<Ids> {
  let { ids } = stage
  for (const { access } of nouns) ids = { ...ids, ...(await access.made?.({ ...stage, ids })) }
  return ids
}
