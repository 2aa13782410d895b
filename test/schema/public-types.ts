/** Why an object type may be reached by an edge without a rule. */
export interface Public {
  /** The types whose fields lead to it, each guarded itself or listed here: checked, so that no other way in opens unseen. */
  readonly from?: readonly string[]
  readonly because: string
}

/** Object types that an edge without a rule may lead to: written by hand, so that each is a decision. */
export const publicTypes: Readonly<Record<string, Public>> = {
  ActionItemSubject: { from: ['ActionItem'], because: 'a part of its item, which carries the rule' },
  AuditDetail: { from: ['AuditEntry'], because: 'a part of its entry, which carries the rule' },
  HardLimit: { from: ['SpendLimit'], because: 'a part of its limit, which carries the rule; it is there for owners alone, as a rule of the noun says' },
  SpendAlert: { from: ['SpendLimit'], because: 'a part of its limit, which carries the rule' },
  CredentialField: { from: ['Credential'], because: 'a part of its credential, which carries the rule; of a secret it has no more than its last characters' },
  EmailFailure: { from: ['EmailMessage'], because: 'a part of its mail, which carries the rule' },
  ProfileAuthorization: { from: ['PersonProfile'], because: 'a part of its profile, which carries the rule' },
  ProfileSourceFailure: { from: ['ProfileSource'], because: 'a part of its source, which carries the rule' },
  ProfileUsagePolicy: { from: ['PersonProfile'], because: 'a part of its profile, which carries the rule' },
  SenderDomainRecord: { from: ['SenderDomain'], because: 'a part of its domain, which carries the rule' },
  ServiceAddress: { from: ['ServiceEntry'], because: 'where a service is found, which whoever is about to sign in has to know' },
  ServiceEntry: {
    from: ['Query', 'ApiKey', 'Handoff'],
    because: 'what a service is and where it is found, which whoever is about to sign in has to know; its scopes carry a rule',
  },
  ServiceMobileApp: { from: ['ServiceEntry'], because: 'an app as its store shows it to everybody' },
  SpeakingStyle: { from: ['PersonProfile', 'StyleSnapshot'], because: 'a part of its profile or snapshot, which carry the rule' },
  StyleMeasures: { from: ['StyleSnapshot'], because: 'a part of its snapshot, which carries the rule' },
  VoiceProfile: { from: ['PersonProfile'], because: 'a part of its profile, which carries the rule' },
  WritingStyle: { from: ['PersonProfile', 'StyleSnapshot'], because: 'a part of its profile or snapshot, which carry the rule' },
  Money: {
    from: [
      ...['Order', 'OrderLine', 'ProcessorInvoiceLine', 'ProcessorInvoicePreview', 'ProcessorPaymentIntent', 'ProcessorPrice', 'ProcessorRecord'],
      ...['ProcessorRefund', 'ProcessorTransfer', 'ProcessorTransferReversal'],
    ],
    because: 'an amount by itself; whose it is says the type that it stands in',
  },
  CompletionToolCall: { from: ['Completion'], because: 'a part of its completion, which carries the rule' },
  DrawnImage: { from: ['ImageGeneration'], because: 'a part of what was drawn, which carries the rule' },
  ProviderCallAttempt: { from: ['ProviderCall'], because: 'a part of its call, which carries the rule' },
  CandidateModel: { from: ['ModelGovernance'], because: 'a part of how models are governed, which carries the rule' },
  ModelOverride: { from: ['ModelGovernance'], because: 'a part of how models are governed, which carries the rule' },
  ModelPreference: { from: ['ModelGovernance'], because: 'a part of how models are governed, which carries the rule' },
  ModelSource: { from: ['ModelGovernance', 'ModelSync'], because: 'a part of how models are governed, which carries the rule' },
  ModelStanding: { from: ['ModelGovernance'], because: 'a part of how models are governed, which carries the rule' },
  OrderLine: { from: ['Order'], because: 'a part of its order, which carries the rule' },
  PageInfo: { because: 'tells where a page stands; the list that it belongs to carries the rule' },
  PostFailure: { from: ['Post'], because: 'a part of its post, which carries the rule' },
  CampaignCounts: { from: ['Campaign'], because: 'a part of its campaign, which carries the rule' },
  AnalyticsSnapshot: { from: ['PostAnalytics'], because: 'a part of what is known of a post, which carries the rule' },
  AnalyticsSums: {
    from: ['BrandAnalytics', 'DayAnalytics', 'PlatformAnalytics', 'TopPost'],
    because: 'a part of the figures of a brand, which carry the rule',
  },
  PlatformAnalytics: { from: ['BrandAnalytics'], because: 'a part of the figures of a brand, which carry the rule' },
  DayAnalytics: { from: ['BrandAnalytics'], because: 'a part of the figures of a brand, which carry the rule' },
  TopPost: { from: ['BrandAnalytics'], because: 'a part of the figures of a brand, which carry the rule' },
  AccountFollowers: { from: ['BrandAnalytics'], because: 'a part of the figures of a brand, which carry the rule' },
  PostTarget: { from: ['Post'], because: 'a part of its post, which carries the rule' },
  ProcessorInvoiceLine: { from: ['ProcessorInvoicePreview'], because: 'a part of its preview, which carries the rule' },
  ProcessorPaymentFailure: { from: ['ProcessorPaymentIntent'], because: 'a part of its payment, which carries the rule' },
  ProcessorRecurring: { from: ['ProcessorPrice'], because: 'a part of its price, which carries the rule' },
  ProcessorSubscriptionItem: { from: ['ProcessorSubscription'], because: 'a part of its subscription, which carries the rule' },
  VideoQuotaApp: { from: ['VideoQuotaBucket'], because: 'a part of its bucket, which carries the rule' },
  Viewer: { from: ['Query'], because: 'tells callers who they are themselves; what it leads to carries rules of its own' },
  WidgetAction: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetChart: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetItem: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetPayload: { from: ['Widget'], because: 'a part of its widget, which carries the rule' },
  WidgetPoint: { from: ['WidgetChart'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetStatistic: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
}
