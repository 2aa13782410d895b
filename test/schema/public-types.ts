/** Why an object type may be reached by an edge without a rule. */
export interface Public {
  /** The types whose fields lead to it, each guarded itself or listed here: checked, so that no other way in opens unseen. */
  readonly from?: readonly string[]
  readonly because: string
}

/** Object types that an edge without a rule may lead to: written by hand, so that each is a decision. */
export const publicTypes: Readonly<Record<string, Public>> = {
  ActionItemSubject: { from: ['ActionItem'], because: 'a part of its item, which carries the rule' },
  CredentialField: { from: ['Credential'], because: 'a part of its credential, which carries the rule; of a secret it has no more than its last characters' },
  ProfileAuthorization: { from: ['PersonProfile'], because: 'a part of its profile, which carries the rule' },
  ProfileSourceFailure: { from: ['ProfileSource'], because: 'a part of its source, which carries the rule' },
  ProfileUsagePolicy: { from: ['PersonProfile'], because: 'a part of its profile, which carries the rule' },
  SpeakingStyle: { from: ['PersonProfile', 'StyleSnapshot'], because: 'a part of its profile or snapshot, which carry the rule' },
  StyleMeasures: { from: ['StyleSnapshot'], because: 'a part of its snapshot, which carries the rule' },
  VoiceProfile: { from: ['PersonProfile'], because: 'a part of its profile, which carries the rule' },
  WritingStyle: { from: ['PersonProfile', 'StyleSnapshot'], because: 'a part of its profile or snapshot, which carry the rule' },
  Money: { from: ['Order', 'OrderLine'], because: 'an amount by itself; whose it is says the type that it stands in' },
  OrderLine: { from: ['Order'], because: 'a part of its order, which carries the rule' },
  PageInfo: { because: 'tells where a page stands; the list that it belongs to carries the rule' },
  PostFailure: { from: ['Post'], because: 'a part of its post, which carries the rule' },
  PostTarget: { from: ['Post'], because: 'a part of its post, which carries the rule' },
  Viewer: { from: ['Query'], because: 'tells callers who they are themselves; what it leads to carries rules of its own' },
  WidgetAction: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetChart: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetItem: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetPayload: { from: ['Widget'], because: 'a part of its widget, which carries the rule' },
  WidgetPoint: { from: ['WidgetChart'], because: 'a part of a payload, which a ruled field leads to' },
  WidgetStatistic: { from: ['WidgetPayload'], because: 'a part of a payload, which a ruled field leads to' },
}
