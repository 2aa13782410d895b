import { actionRows } from './agents/action.ts'
import { agentRows } from './agents/agent.ts'
import { approvalLinkRows, approvalRows } from './agents/approval.ts'
import { connectorRows } from './agents/connector.ts'
import { knowledgeRows } from './agents/knowledge.ts'
import { personProfileRows } from './agents/person-profile.ts'
import { policyRows } from './agents/policy.ts'
import { profileSourceRows } from './agents/profile-source.ts'
import { publicChatRows } from './agents/public-chat.ts'
import { runRows } from './agents/run.ts'
import { styleSnapshotRows } from './agents/style-snapshot.ts'
import { widgetRows as agentsWidgetRows } from './agents/widget.ts'
import { workRows } from './agents/work.ts'
import { hookRows, workflowRows } from './agents/workflow.ts'
import { accountRows } from './identity/account.ts'
import { apiKeyRows } from './identity/api-key.ts'
import { credentialRows } from './identity/credentials.ts'
import { handoffRows } from './identity/handoff.ts'
import { oauthRows } from './identity/oauth.ts'
import { pageRows } from './identity/pages.ts'
import { serviceEntryRows } from './identity/service-entry.ts'
import { sessionRows } from './identity/session.ts'
import { actionItemRows } from './launcher/actions.ts'
import { catalogRows } from './launcher/catalog.ts'
import { commerceRows } from './launcher/commerce.ts'
import { launchRows } from './launcher/launch.ts'
import { layoutRows } from './launcher/layout.ts'
import { linkRows } from './launcher/links.ts'
import { marketingRows } from './launcher/marketing.ts'
import { notificationRows } from './launcher/notifications.ts'
import { widgetRows as launcherWidgetRows } from './launcher/widgets.ts'
import { launcherWorkflowRows } from './launcher/workflow.ts'
import { workspaceRows } from './launcher/workspace.ts'
import { auditRows } from './payments/audit.ts'
import { checkoutRows, payRows } from './payments/checkout.ts'
import { customerRows } from './payments/customer.ts'
import { disputeFileRows, disputeRows } from './payments/dispute.ts'
import { invoiceRows } from './payments/invoice.ts'
import { merchantRows } from './payments/merchant.ts'
import { orderRows } from './payments/order.ts'
import { refundRows } from './payments/refund.ts'
import { ledgerRows } from './payments/reports/ledger.ts'
import { reportRows } from './payments/reports/report.ts'
import { widgetRows as paymentsWidgetRows } from './payments/reports/widget.ts'
import { serviceIdentityRows } from './payments/service-identity.ts'
import { sessionRows as paymentsSessionRows } from './payments/session.ts'
import { settingsRows } from './payments/settings.ts'
import { settlementRows } from './payments/settlement.ts'
import { transactionRows } from './payments/transaction.ts'
import { venueRows } from './payments/venue.ts'
import { paymentWebhookRows } from './payments/webhooks/endpoint.ts'
import { webhookEventRows } from './payments/webhooks/event.ts'
import { aiRows } from './providers/ai.ts'
import { callRows } from './providers/call.ts'
import { credentialRows as providerCredentialRows } from './providers/credential.ts'
import { emailRows } from './providers/email.ts'
import { modelRows } from './providers/model.ts'
import { processorPayingRows } from './providers/processor-paying.ts'
import { processorSellingRows } from './providers/processor-selling.ts'
import { serviceClientRows } from './providers/service-client.ts'
import { spendRows } from './providers/spend.ts'
import { videoRows } from './providers/video.ts'
import { widgetRows as providersWidgetRows } from './providers/widget.ts'
import { brandRows } from './publishing/brand.ts'
import { connectionRows } from './publishing/connection.ts'
import { analyticsRows } from './publishing/insight/analytics.ts'
import { dashboardRows } from './publishing/insight/dashboard.ts'
import { integrationRows } from './publishing/integration.ts'
import { mediaRows } from './publishing/media/asset.ts'
import { mediaFolderRows } from './publishing/media/folder.ts'
import { imageRows } from './publishing/media/image.ts'
import { trendRows } from './publishing/media/trend.ts'
import { activityRows } from './publishing/news/activity.ts'
import { webhookRows } from './publishing/news/webhook.ts'
import { calendarRows } from './publishing/planning/calendar.ts'
import { campaignRows } from './publishing/planning/campaign.ts'
import { postRows } from './publishing/post.ts'
import { importRows } from './publishing/posts/import.ts'
import { threadRows } from './publishing/posts/thread.ts'
import { revocationRows } from './publishing/revocation.ts'
import { widgetRows } from './publishing/widget.ts'
import type { RouteTable } from './row.ts'

/** Every REST route of the platform. */
export const routeTables: readonly RouteTable[] = [
  {
    slug: 'agents',
    rows: [
      ...actionRows,
      ...agentRows,
      ...publicChatRows,
      ...connectorRows,
      ...knowledgeRows,
      ...personProfileRows,
      ...profileSourceRows,
      ...styleSnapshotRows,
      ...workflowRows,
      ...hookRows,
      ...runRows,
      ...approvalRows,
      ...approvalLinkRows,
      ...policyRows,
      ...workRows,
      ...agentsWidgetRows,
    ],
  },
  {
    slug: 'identity',
    rows: [...accountRows, ...apiKeyRows, ...credentialRows, ...oauthRows, ...handoffRows, ...pageRows, ...serviceEntryRows, ...sessionRows],
  },
  {
    slug: 'launcher',
    rows: [
      ...actionItemRows,
      ...catalogRows,
      ...commerceRows,
      ...launchRows,
      ...layoutRows,
      ...linkRows,
      ...marketingRows,
      ...notificationRows,
      ...launcherWidgetRows,
      ...launcherWorkflowRows,
      ...workspaceRows,
    ],
  },
  {
    slug: 'payments',
    rows: [
      ...auditRows,
      ...checkoutRows,
      ...customerRows,
      ...invoiceRows,
      ...ledgerRows,
      ...merchantRows,
      ...orderRows,
      ...refundRows,
      ...reportRows,
      ...settingsRows,
      ...settlementRows,
      ...transactionRows,
      ...venueRows,
      ...serviceIdentityRows,
      ...payRows,
      ...paymentsSessionRows,
      ...disputeRows,
      ...disputeFileRows,
      ...paymentWebhookRows,
      ...webhookEventRows,
      ...paymentsWidgetRows,
    ],
  },
  {
    slug: 'providers',
    rows: [
      ...aiRows,
      ...providerCredentialRows,
      ...modelRows,
      ...serviceClientRows,
      ...emailRows,
      ...callRows,
      ...spendRows,
      ...videoRows,
      ...providersWidgetRows,
      ...processorSellingRows,
      ...processorPayingRows,
    ],
  },
  {
    slug: 'publishing',
    rows: [
      ...brandRows,
      ...postRows,
      ...connectionRows,
      ...threadRows,
      ...importRows,
      ...integrationRows,
      ...revocationRows,
      ...mediaRows,
      ...mediaFolderRows,
      ...imageRows,
      ...trendRows,
      ...widgetRows,
      ...analyticsRows,
      ...dashboardRows,
      ...campaignRows,
      ...calendarRows,
      ...activityRows,
      ...webhookRows,
    ],
  },
]
