import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConstDirectiveNode, Kind, parse, valueFromASTUntyped } from 'graphql'
import { describe, expect, test } from 'vitest'
import { compose } from '../../schema/compose.ts'
import { printMistake } from '../../schema/source/mistake.ts'
import { limits as ofAgents } from '../../subgraphs/agents/agent/rules.ts'
import { max as ofChat } from '../../subgraphs/agents/chat/public/answer.ts'
import { limits as ofSites } from '../../subgraphs/agents/chat/site/rules.ts'
import { limits as ofConnector } from '../../subgraphs/agents/connect/connector/rules.ts'
import { session as ofSessions } from '../../subgraphs/agents/engines/chat/gate.ts'
import { most as ofCatalogue } from '../../subgraphs/agents/engines/connect/catalogue/read.ts'
import { maxSentences as mostCited } from '../../subgraphs/agents/engines/draft/quote.ts'
import { limits as ofRuns } from '../../subgraphs/agents/engines/run/plan.ts'
import { max as ofReplies } from '../../subgraphs/agents/engines/talk/question.ts'
import { limits as ofKnowledge } from '../../subgraphs/agents/knowledge/knowledge-source/rules.ts'
import { most as ofProfile } from '../../subgraphs/agents/profile/person-profile/rules.ts'
import { most as ofSource } from '../../subgraphs/agents/profile/profile-source/rules.ts'
import { fieldCount } from '../../subgraphs/agents/profile/style-snapshot/changes.ts'
import { maxVersions as maxAgents } from '../../subgraphs/agents/stores/agent.ts'
import { maxVersions as maxReports } from '../../subgraphs/agents/stores/report.ts'
import { mostItems as mostPending } from '../../subgraphs/agents/stores/workspace/widget.ts'
import { payload as agentsWidget } from '../../subgraphs/agents/workspace/widget/rules.ts'
import { exponents } from '../../subgraphs/currencies.ts'
import { most as ofOAuth, openidScopes } from '../../subgraphs/identity/credentials/oauth/rules.ts'
import { mostTurns } from '../../subgraphs/identity/credentials/signing-key/rules.ts'
import { mostAddresses } from '../../subgraphs/identity/service-entry/production.ts'
import { most as ofService } from '../../subgraphs/identity/service-entry/rules.ts'
import { mostDetails } from '../../subgraphs/identity/stores/audit-entry.ts'
import { mostReceived } from '../../subgraphs/identity/stores/invitation.ts'
import { mostSessions } from '../../subgraphs/identity/stores/session.ts'
import { max as ofActions } from '../../subgraphs/launcher/action-item/rules.ts'
import { max as ofFavourites } from '../../subgraphs/launcher/dashboard/favourite/rules.ts'
import { max as ofHouseholds } from '../../subgraphs/launcher/dashboard/household/rules.ts'
import { payload as launcherWidget } from '../../subgraphs/launcher/dashboard/own-widget/rules.ts'
import { max as ofLayout } from '../../subgraphs/launcher/dashboard/rules.ts'
import { maxLinks } from '../../subgraphs/launcher/dashboard/shared-link/rules.ts'
import { max as ofListed } from '../../subgraphs/launcher/engines/catalog/read.ts'
import { packages } from '../../subgraphs/launcher/engines/commerce/plans.ts'
import { max as ofAppWidgets } from '../../subgraphs/launcher/engines/widgets/apps/payload.ts'
import { maxWidgets } from '../../subgraphs/launcher/engines/widgets/widgets.ts'
import { maxSteps } from '../../subgraphs/launcher/launch/rules.ts'
import { limits as ofWorkflow } from '../../subgraphs/launcher/launch/workflow/rules.ts'
import { maxRules } from '../../subgraphs/launcher/notification/preferences/rules.ts'
import { maxShown } from '../../subgraphs/launcher/stores/commerce/subscription.ts'
import { max as ofAnnouncements } from '../../subgraphs/launcher/stores/dashboard/announcement.ts'
import { maxInstalled } from '../../subgraphs/launcher/stores/installation.ts'
import { maxChanges } from '../../subgraphs/payments/admin/audit/rules.ts'
import { limits as ofSettings } from '../../subgraphs/payments/admin/settings/rules.ts'
import { mailsShown } from '../../subgraphs/payments/engines/invoicing/record.ts'
import { maxMethods } from '../../subgraphs/payments/engines/keeping/rules.ts'
import { maxNamed } from '../../subgraphs/payments/engines/ledger/proof.ts'
import { most as ofSettlement } from '../../subgraphs/payments/engines/settlement/rules.ts'
import { most as ofCreditNote } from '../../subgraphs/payments/invoicing/credit-note/rules.ts'
import { maxMetadata } from '../../subgraphs/payments/order/metadata.ts'
import { most as ofOrder } from '../../subgraphs/payments/order/rules.ts'
import { max as ofVenues } from '../../subgraphs/payments/parties/venue/rules.ts'
import { most as ofRefund } from '../../subgraphs/payments/refund/rules.ts'
import { orderStatuses } from '../../subgraphs/payments/reports/overview/resolvers.ts'
import { most as ofReconciliation } from '../../subgraphs/payments/reports/reconciliation/rules.ts'
import { most as ofReport } from '../../subgraphs/payments/reports/report/rules.ts'
import { payload as paymentsWidget } from '../../subgraphs/payments/reports/widget/rules.ts'
import { maxEndpoints, outgoingEvents } from '../../subgraphs/payments/stores/events/webhook-endpoint.ts'
import { maxAttempts } from '../../subgraphs/payments/stores/settlement/callback.ts'
import { mostItems as mostFailed } from '../../subgraphs/payments/stores/widget.ts'
import { most as ofEvidence } from '../../subgraphs/payments/transaction/dispute/evidence.ts'
import { maxDisputes } from '../../subgraphs/payments/transaction/dispute/resolvers.ts'
import { most as ofClient } from '../../subgraphs/providers/administration/service-client/rules.ts'
import { maxDropped } from '../../subgraphs/providers/ai/chat/dropped.ts'
import { mostTools } from '../../subgraphs/providers/ai/chat/tools.ts'
import { mostTexts } from '../../subgraphs/providers/ai/embedding/resolvers.ts'
import { mostImages } from '../../subgraphs/providers/ai/image/request.ts'
import { payload as providersWidget } from '../../subgraphs/providers/call/widget/rules.ts'
import { recordsOf } from '../../subgraphs/providers/email/domain/records.ts'
import { mostDomains } from '../../subgraphs/providers/email/domain/rules.ts'
import { mostIdentities } from '../../subgraphs/providers/email/identity/rules.ts'
import { most as ofEmail } from '../../subgraphs/providers/email/message/input.ts'
import { maxImagePrices } from '../../subgraphs/providers/engines/models/image-prices.ts'
import { capabilities } from '../../subgraphs/providers/engines/models/prices.ts'
import { alertKinds } from '../../subgraphs/providers/engines/spend/booking.ts'
import { catalogue } from '../../subgraphs/providers/engines/third-party/catalogue.ts'
import { mostBuckets } from '../../subgraphs/providers/engines/video/table.ts'
import { most as ofModels } from '../../subgraphs/providers/model/rules.ts'
import { sourceNames } from '../../subgraphs/providers/model/sync/shown.ts'
import { most as ofProcessor } from '../../subgraphs/providers/processor/price/resolvers.ts'
import { periods, scopeTypes } from '../../subgraphs/providers/spend/rules.ts'
import { mostApps, mostAttempts, mostUsage } from '../../subgraphs/providers/stores/call.ts'
import { mostCandidates, mostUsed } from '../../subgraphs/providers/stores/model/model.ts'
import { mostOverrides } from '../../subgraphs/providers/stores/model/settings.ts'
import { mostApprovers } from '../../subgraphs/publishing/brand/rules.ts'
import { payload as publishingWidget } from '../../subgraphs/publishing/insight/widget/rules.ts'
import { mostTags } from '../../subgraphs/publishing/media/asset/rules.ts'
import { mostFolders } from '../../subgraphs/publishing/media/folder/rules.ts'
import { most as ofDrawing } from '../../subgraphs/publishing/media/image/generate.ts'
import { most as ofTrends } from '../../subgraphs/publishing/media/trend/rules.ts'
import { mostPlaces } from '../../subgraphs/publishing/network/account/account.ts'
import { platforms } from '../../subgraphs/publishing/network/networks.ts'
import { mostItems } from '../../subgraphs/publishing/post/bulk/bulk.ts'
import { most as ofPost } from '../../subgraphs/publishing/post/content.ts'
import { mostRows } from '../../subgraphs/publishing/post/import/rows.ts'
import { mostProblems } from '../../subgraphs/publishing/post/problems.ts'
import { mostAttempts as mostDelivered } from '../../subgraphs/publishing/stores/attempt.ts'
import { mostConnections, mostScopes } from '../../subgraphs/publishing/stores/connection.ts'
import { most as ofAnalytics } from '../../subgraphs/publishing/stores/insight/analytics.ts'
import { mostShown } from '../../subgraphs/publishing/stores/insight/dashboard.ts'
import { mostWebhooks, webhookEvents } from '../../subgraphs/publishing/stores/news/webhook.ts'
import { mostConflicts } from '../../subgraphs/publishing/stores/planning/calendar.ts'
import { mostEvents } from '../../subgraphs/publishing/stores/posts/approval.ts'
import { mostOfThread } from '../../subgraphs/publishing/stores/posts/thread.ts'
import { mostVersions } from '../../subgraphs/publishing/stores/posts/version.ts'
import { everyScope, reservedOperations, scopes, serviceOperations, slugs } from '../../subgraphs/scopes.ts'
import { readApi } from './graph.ts'
import { library, project } from './project.ts'

const loan = 'subgraphs/loans/loan/schema.graphql'
const withLoans = async (field: string, more = '') => {
  await using at = await project({ ...library, [loan]: `${library[loan]!.replace(/ {2}loans: .*/, `  ${field}`)}${more}` })
  return (await compose(at.root)).mistakes.map(printMistake)
}

describe('a list field', () => {
  test('without a declared length is rejected with its place', async () => {
    expect(await withLoans('loans: [Loan!] @authenticated')).toEqual([
      `${loan}:2:3 LIST_WITHOUT_SIZE Query.loans is a list of no known length: write @listSize(assumedSize: N) with the most that a rule of the domain lets it have, or make it a page`,
    ])
    expect(await withLoans('loans: [Loan!] @listSize(assumedSize: 10) @authenticated')).toEqual([])
    expect(await withLoans('loans(most: Int = 10): [Loan!] @listSize(slicingArguments: ["most"]) @authenticated')).toEqual([])
  })

  test.each(['assumedSize: 0', 'slicingArguments: []', 'sizedFields: ["id"]'])('that says no length with its @listSize is refused: %s', async given => {
    expect(await withLoans(`loans: [Loan!] @listSize(${given}) @authenticated`)).toContainEqual(expect.stringMatching(/LIST_WITHOUT_SIZE Query\.loans: /))
  })

  test('of leaves declares a cost', async () => {
    expect(await withLoans('names: [String!] @listSize(assumedSize: 3) @authenticated')).toEqual([
      expect.stringMatching(/:2:3 LIST_WITHOUT_COST Query\.names /),
    ])
    expect(await withLoans('days: [DateTime!]! @listSize(assumedSize: 3) @authenticated')).toEqual([expect.stringMatching(/LIST_WITHOUT_COST Query\.days /)])
    expect(await withLoans('names: [String!] @listSize(assumedSize: 3) @cost(weight: 1) @authenticated')).toEqual([])
  })

  test('within a page has its length from every field that leads there', async () => {
    const shelf = '\n"A shelf."\ntype Shelf @authenticated {\n  id: ID!\n  parts: [Loan!]\n}\n'
    const sized = 'shelf(first: Int = 5): Shelf @listSize(slicingArguments: ["first"], sizedFields: ["parts"]) @authenticated'
    expect(await withLoans(sized, shelf)).toEqual([])
    expect(await withLoans(`${sized}\n  other: Shelf @authenticated`, shelf)).toEqual([expect.stringMatching(/LIST_WITHOUT_SIZE Shelf\.parts is /)])
  })
})

/** The most that the rules of the domain let each list have that is no page. */
const rules: Readonly<Record<string, number>> = {
  'LedgerVerification.unbalancedMovements': maxNamed,
  'Order.disputes': maxDisputes,
  'DisputeEvidence.files': ofEvidence.files,
  'Order.refunds': ofRefund.ofOrder,
  'PaymentWebhook.events': outgoingEvents.length,
  'Query.paymentWebhooks': maxEndpoints,
  'LedgerVerification.totals': exponents.size,
  'Connector.tools': ofConnector.tools,
  'Query.connectors': ofConnector.shown,
  'CatalogEntry.contexts': 2,
  'CatalogEntry.capabilities': 1,
  'CatalogEntry.mobileApps': ofListed.mobileApps,
  'CatalogEntry.screenshots': ofListed.screenshots,
  'StoreApp.contexts': 2,
  'StoreApp.capabilities': 1,
  'Launch.steps': maxSteps,
  'LauncherWorkflow.steps': ofWorkflow.steps,
  'StoreApp.screenshots': ofListed.screenshots,
  'Query.billingPlans': packages.length,
  'Query.billingSubscriptions': maxShown,
  'Query.workspaceVerifications': maxShown,
  'Query.claimableSubscriptions': maxShown,
  'Query.claimableVerifications': maxShown,
  'BillingPreview.lines': ofProcessor.lines,
  'Query.installations': maxInstalled,
  'Query.favourites': ofFavourites.shown,
  'Query.households': ofHouseholds.households,
  'Query.householdInvitations': ofHouseholds.ofPerson,
  'Household.members': ofHouseholds.members,
  'Household.invitations': ofHouseholds.invitations,
  'Mutation.orderFavourites': ofFavourites.shown,
  'Query.sharedLinks': maxLinks,
  'Query.announcements': ofAnnouncements.listed,
  'ActionItemsReport.results': ofActions.items,
  'NotificationPreferences.rules': maxRules,
  'DashboardLayout.items': ofLayout.items,
  'DashboardLayout.boards': ofLayout.boards,
  'DashboardBoard.items': ofLayout.items,
  'MobileAppEntry.artifacts': ofCatalogue.artifacts,
  'Plan.steps': ofRuns.steps,
  'Run.steps': ofRuns.steps,
  // Of two plans.
  'RunComparison.steps': 2 * ofRuns.steps,
  // One of each verdict.
  'StepGate.allowed': 4,
  'Approval.allowed': 4,
  'StepGate.approvers': ofRuns.approval.approvers,
  'Approval.approvers': ofRuns.approval.approvers,
  'Approval.decisions': ofRuns.approval.decisions,
  'Agent.versions': maxAgents,
  'ChatSite.personas': ofSites.personas,
  'ChatSite.blockedWords': ofSites.words,
  'ChatSession.turns': 2 * ofSessions.turns,
  'ChatTurn.sources': ofChat.passages,
  'Agent.tools': ofAgents.tools,
  'Agent.knowledgeSources': ofAgents.sources,
  'ConversationMessage.sources': ofReplies.passages,
  'Report.versions': maxReports,
  'KnowledgeSource.actions': ofKnowledge.actions,
  'ProfilePreview.citations': mostCited,
  'Query.styleChanges': fieldCount,
  'PersonProfile.personaRules': ofProfile.list,
  'PersonProfile.usagePolicies': ofProfile.policies,
  'PersonProfile.authorizations': ofProfile.authorizations,
  'PersonProfile.voiceProfiles': ofProfile.voices,
  'WritingStyle.vocabulary': ofProfile.list,
  'WritingStyle.dos': ofProfile.list,
  'WritingStyle.donts': ofProfile.list,
  'WritingStyle.signaturePhrases': ofProfile.list,
  'SpeakingStyle.fillers': ofProfile.list,
  'SpeakingStyle.pronunciations': ofProfile.list,
  'StyleSnapshot.sources': ofSource.sources,
  'ApiKey.scopes': everyScope.length,
  'AuditEntry.details': mostDetails,
  'MemberRights.scopes': everyScope.length,
  'RoleDefinition.scopes': everyScope.length,
  'Viewer.scopes': everyScope.length,
  'Membership.roles': rolesOf(),
  'MemberRights.roles': rolesOf(),
  'MembershipRecord.roles': rolesOf(),
  'Viewer.roles': rolesOf(),
  'Query.roles': rolesOf(),
  'Invitation.roles': rolesOf(),
  'Query.receivedInvitations': mostReceived,
  'ServiceEntry.contexts': 2,
  'ServiceEntry.scopes': Math.max(...slugs.map(slug => Object.keys(scopes[slug]).length)),
  'ServiceEntry.capabilities': 1,
  'ServiceEntry.mobileApps': ofService.mobileApps,
  'ServiceMobileApp.certificateFingerprints': ofService.fingerprints,
  // Written by the platform: the hosts of each role, here and in production.
  'ServiceEntry.addresses': 5 + mostAddresses,
  'Query.services': slugs.length,
  'Query.sessions': mostSessions,
  'Mutation.revokeSessions': mostSessions,
  // The keys of one day, and the one that signed when it began.
  'Query.signingKeys': mostTurns + 1,
  'Query.widgets': maxWidgets,
  'Query.paymentCurrencies': exponents.size,
  'OAuthClient.redirectUris': ofOAuth.redirectUris,
  'OAuthClient.scopes': openidScopes.length + everyScope.length,
  'OAuthConsent.scopes': openidScopes.length + everyScope.length,
  'Query.consents': ofOAuth.clients,
  'Order.lines': ofOrder.lines,
  'PaymentAuditEntry.changes': maxChanges,
  'SettlementBatch.callbacks': ofSettlement.callbacks,
  'SettlementCallback.attempts': maxAttempts,
  'PaymentReport.rows': ofReport.rows,
  'PaymentAnalytics.declines': ofReport.declines,
  'PaymentAnalytics.byDay': ofReport.rows,
  'PaymentReconciliation.differences': ofReconciliation.differences,
  'PaymentsOverview.orders': orderStatuses.length,
  'Order.metadata': maxMetadata.entries,
  'Refund.metadata': maxMetadata.entries,
  'Invoice.lines': ofOrder.lines,
  'Invoice.metadata': maxMetadata.entries,
  'Invoice.creditNotes': ofCreditNote.ofInvoice,
  'Invoice.mails': mailsShown,
  'Customer.metadata': maxMetadata.entries,
  'Customer.paymentMethods': maxMethods,
  'Merchant.venues': ofVenues.venues,
  'PaymentSettings.refundApprovalThresholds': ofSettings.thresholds,
  'PaymentSettings.reminderDays': ofSettings.reminderDays.count,
  'ImageGeneration.images': mostImages,
  'Embeddings.vectors': mostTexts,
  'Completion.toolCalls': mostTools,
  'Completion.dropped': maxDropped,
  'AiModel.imagePrices': maxImagePrices,
  'Credential.fields': Math.max(...Object.values(catalogue).map(({ plain }) => plain.length + 1)),
  'ProviderCall.attempts': mostAttempts,
  'Query.usage': mostUsage,
  'Query.providerApps': mostApps,
  'Query.modelPreferences': capabilities.length,
  'Query.fallbackChains': capabilities.length,
  'ModelGovernance.platformDefaults': capabilities.length,
  'ModelPreference.allowedModels': ofModels.allowed,
  'FallbackChain.models': ofModels.chain,
  'ModelGovernance.lifecycle': capabilities.length * ofModels.allowed,
  'ModelGovernance.unpricedModels': capabilities.length * ofModels.allowed,
  'ModelGovernance.overrides': mostOverrides,
  'ModelGovernance.recentUsage': mostUsed,
  'ModelGovernance.candidateModels': mostCandidates,
  'ModelGovernance.sources': sourceNames.length,
  'ModelSync.sources': sourceNames.length,
  'ServiceClient.operations': Object.keys(serviceOperations).length,
  'ServiceClient.tokens': ofClient.tokens,
  'ProcessorSubscription.items': ofProcessor.items,
  'ProcessorInvoicePreview.lines': ofProcessor.lines,
  // One of each kind.
  'SpendLimit.alerts': alertKinds.length,
  'Query.videoQuota': mostBuckets,
  'VideoQuotaBucket.apps': reservedOperations.VIDEO!.length,
  'Query.hardLimitOptions': scopeTypes.length,
  'HardLimitOption.levels': 2,
  'HardLimitOption.periods': periods.length,
  // An organization's, and the platform's.
  'Query.senderDomains': 2 * mostDomains,
  'Query.senderIdentities': 2 * mostIdentities,
  'SenderDomain.records': recordsOf({ domain: '', token: '', selector: '', publicKey: '' }, '').length,
  'EmailMessage.to': ofEmail.recipients,
  'EmailMessage.cc': ofEmail.recipients,
  'Brand.approvers': mostApprovers,
  'Brand.connections': mostConnections,
  'GeneratedImages.images': ofDrawing.images,
  'MediaAsset.tags': mostTags,
  // At most one for each network.
  'MediaAsset.variants': platforms.length,
  'Post.approvalEvents': mostEvents,
  'Post.deliveryAttempts': mostDelivered,
  'Post.media': ofPost.media,
  'Post.problems': mostProblems,
  'Post.tags': ofPost.tags,
  'Post.versions': mostVersions,
  'PostCheck.problems': mostProblems,
  'PostComposition.posts': platforms.length,
  'PostImport.rows': mostRows,
  'PostImportRow.problems': mostProblems,
  'PostThread.posts': mostOfThread,
  'PostVersion.mediaIds': ofPost.media,
  'PostsReport.results': mostItems,
  'Query.mediaFolders': mostFolders,
  'Query.postChecks': platforms.length,
  'TrendReport.trends': ofTrends.trends,
  'CalendarEntry.conflicts': mostConflicts,
  'PostAnalytics.snapshots': ofAnalytics.snapshots,
  'BrandAnalytics.byPlatform': platforms.length,
  'BrandAnalytics.byDay': ofAnalytics.days,
  'BrandAnalytics.topPosts': ofAnalytics.top,
  'BrandAnalytics.followers': mostConnections,
  'PublishingDashboard.attention': mostShown.attention,
  'PublishingDashboard.attentionIds': mostShown.attention,
  'PublishingDashboard.next': mostShown.next,
  'PublishingDashboard.nextIds': mostShown.next,
  'Query.webhookEndpoints': mostWebhooks,
  'WebhookEndpoint.events': webhookEvents.length,
  'Connection.scopes': mostScopes,
  'Connection.targets': mostPlaces,
  'Integration.connections': mostConnections,
  'Integration.targets': mostPlaces,
  'Query.integrations': platforms.length,
  'WidgetPayload.statistics': Math.max(ofAppWidgets.statistics, ...payloads().map(({ statistics }) => statistics.length)),
  'WidgetPayload.items': Math.max(ofAppWidgets.items, ...payloads().map(({ items }) => items.length)),
  'WidgetChart.points': ofAppWidgets.points,
}

function rolesOf(): number {
  const role = readApi().schema.getType('Role')
  return (role as { getValues(): readonly unknown[] }).getValues().length
}

function payloads(): readonly { readonly statistics: readonly unknown[]; readonly items: readonly unknown[] }[] {
  const next = { id: 'p', copy: 'words', scheduledAt: new Date(0) }
  const much = { spentMicros: '9', scheduledToday: 9, failed: 9, publishedThisWeek: 9, next, ordersToday: 9, credentialsFailing: 9 } as never
  return [
    agentsWidget({ pending: Array(mostPending).fill(next) } as never, ''),
    paymentsWidget({ ...(much as object), failed: Array(mostFailed).fill(next), disputed: Array(mostFailed).fill(next) } as never, ''),
    launcherWidget({ openActions: 1, unreadNotifications: 1, installedApps: 1, launchesToday: 1 }, ''),
    providersWidget(much, ''),
    publishingWidget(much, ''),
  ]
}

test('a list without pages has the declared maximum length by a rule of the domain', () => {
  const assumed = new Map<string, number>()
  const supergraph = parse(readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8'))
  for (const node of supergraph.definitions) {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue
    for (const field of node.fields ?? []) {
      const size = field.directives?.find(({ name }) => name.value === 'listSize')
      const most = size && argumentsOf(size).assumedSize
      if (most !== undefined) assumed.set(`${node.name.value}.${field.name.value}`, Number(most))
    }
  }
  expect([...assumed.keys()].toSorted()).toEqual(Object.keys(rules).toSorted())
  for (const [coordinate, most] of assumed) expect(rules[coordinate]!, coordinate).toBeLessThanOrEqual(most)
})

const argumentsOf = (directive: ConstDirectiveNode): Record<string, unknown> =>
  Object.fromEntries((directive.arguments ?? []).map(each => [each.name.value, valueFromASTUntyped(each.value)]))
