import { personProfileRows } from './agents/person-profile.ts'
import { profileSourceRows } from './agents/profile-source.ts'
import { styleSnapshotRows } from './agents/style-snapshot.ts'
import { widgetRows as agentsWidgetRows } from './agents/widget.ts'
import { accountRows } from './identity/account.ts'
import { apiKeyRows } from './identity/api-key.ts'
import { credentialRows } from './identity/credentials.ts'
import { handoffRows } from './identity/handoff.ts'
import { oauthRows } from './identity/oauth.ts'
import { pageRows } from './identity/pages.ts'
import { serviceEntryRows } from './identity/service-entry.ts'
import { sessionRows } from './identity/session.ts'
import { auditRows } from './payments/audit.ts'
import { customerRows } from './payments/customer.ts'
import { ledgerRows } from './payments/ledger.ts'
import { merchantRows } from './payments/merchant.ts'
import { orderRows } from './payments/order.ts'
import { refundRows } from './payments/refund.ts'
import { serviceIdentityRows } from './payments/service-identity.ts'
import { sessionRows as paymentsSessionRows } from './payments/session.ts'
import { settingsRows } from './payments/settings.ts'
import { transactionRows } from './payments/transaction.ts'
import { venueRows } from './payments/venue.ts'
import { widgetRows as paymentsWidgetRows } from './payments/widget.ts'
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
  { slug: 'agents', rows: [...personProfileRows, ...profileSourceRows, ...styleSnapshotRows, ...agentsWidgetRows] },
  {
    slug: 'identity',
    rows: [...accountRows, ...apiKeyRows, ...credentialRows, ...oauthRows, ...handoffRows, ...pageRows, ...serviceEntryRows, ...sessionRows],
  },
  {
    slug: 'payments',
    rows: [
      ...auditRows,
      ...customerRows,
      ...ledgerRows,
      ...merchantRows,
      ...orderRows,
      ...refundRows,
      ...settingsRows,
      ...transactionRows,
      ...venueRows,
      ...serviceIdentityRows,
      ...paymentsSessionRows,
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
