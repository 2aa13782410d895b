/** Code whose tests are held to a mutation score, and the tests that are asked: a mutant is tried with those of them that reach it. */
export interface Area {
  readonly name: string
  readonly sources: RegExp
  /** By the beginning of a source's path: the tests that speak of it. The longest beginning counts. */
  readonly tests: Readonly<Record<string, readonly string[]>>
}

/** Percent of an area's mutants that its tests must kill. */
export const floor = 85

const ofPlatform = (name: string) => [`test/rules/platform/${name}.test.ts`]
const ofDelivery = (...names: string[]) => names.map(name => `test/subgraphs/publishing/delivery/${name}.test.ts`)

export const areas: readonly Area[] = [
  {
    name: 'platform',
    sources: /^(?:platform\/(?:[^/]+|(?:caller|outbound)\/[^/]+|jobs\/(?:jobs|retention))|subgraphs\/currencies)\.ts$/,
    tests: {
      'platform/': ['test/rules/platform/*.test.ts'],
      'platform/caller/address': ofPlatform('address'),
      'platform/caller/cause': ofPlatform('cause'),
      'platform/cipher': ofPlatform('cipher'),
      'platform/clock': ofPlatform('clock'),
      'platform/crash': ofPlatform('crash'),
      'platform/errors': ofPlatform('errors'),
      'platform/events': ofPlatform('events'),
      'subgraphs/currencies': ['test/rules/currencies.test.ts'],

      'platform/idempotency': ofPlatform('idempotency'),
      'platform/ids': ofPlatform('ids'),
      'platform/jobs': ['test/jobs/{jobs,retention}.test.ts'],
      'platform/jobs/retention': ['test/jobs/retention.test.ts'],
      'platform/limit': ofPlatform('limit'),
      'platform/outbound': ofPlatform('{outbound,outbound-stream,reaches}'),
      'platform/page': ofPlatform('page'),
    },
  },
  {
    name: 'reading and writing',
    sources: /^(?:subgraphs\/store|platform\/sql)\/[^/]+(?<!\.d)\.ts$/,
    tests: {
      'subgraphs/store/': ['test/subgraphs/store/*.test.ts'],
      'subgraphs/store/fact-kinds': ['test/facts/kinds.test.ts', 'test/rules/publishing/facts.test.ts'],
      'subgraphs/store/facts': ['test/facts/{delivery,kinds}.test.ts', 'test/jobs/retention.test.ts'],
      'subgraphs/store/filtered': ['test/subgraphs/agents/person-profile/person-profile.test.ts'],
      'subgraphs/store/removal': ['test/start/demo.test.ts'],
      'subgraphs/store/tell': ['test/facts/{delivery,kinds}.test.ts'],
      'subgraphs/store/usage': ['test/subgraphs/store/usage.test.ts'],
      'platform/sql/': ['test/db/reads.test.ts'],
      'platform/sql/table': ['test/subgraphs/store/{pages,rows,write}.test.ts', 'test/db/tables.test.ts'],
    },
  },
  {
    name: 'facts',
    sources: /^platform\/jobs\/facts\/[^/]+\.ts$/,
    tests: {
      'platform/jobs/facts/': ['test/facts/{delivery,relay}.test.ts'],
      'platform/jobs/facts/inbox': ['test/facts/delivery.test.ts', 'test/jobs/retention.test.ts'],
      'platform/jobs/facts/operator': ['test/facts/operator.test.ts'],
      'platform/jobs/facts/outbox': ['test/facts/{delivery,relay}.test.ts', 'test/jobs/retention.test.ts'],
    },
  },
  {
    // How NATS and PostgreSQL themselves carry is asked of them: test/live/carriers.test.ts takes half a minute.
    name: 'carriers',
    sources: /^carriers\/(?!nats\.|notify\.)[^/]+\.ts$/,
    tests: {
      'carriers/': ['test/live/{carrying,looking-again}.test.ts'],
      'carriers/carrier': ['test/live/carrying.test.ts'],
      'carriers/looking-again': ['test/live/{looking-again,rounds}.test.ts'],
      'carriers/nats-address': ['test/rules/nats-address.test.ts'],
    },
  },
  {
    name: 'addresses',
    sources: /^(?:config\/hosts|router\/hosts|router\/rest\/place)\.ts$/,
    tests: {
      'config/hosts': ['test/rules/config.test.ts'],
      'router/hosts': ['test/rules/hosts.test.ts', 'test/access/caller/browser.test.ts'],
      'router/rest/place': ['test/rules/hosts.test.ts'],
    },
  },
  {
    name: 'access',
    sources: /^router\/access\/[^/]+\.ts$/,
    tests: {
      'router/access/': ['test/access/{filter,rules}.test.ts'],
      'router/access/address': ['test/access/caller/address.test.ts'],
      'router/access/authenticate': ['test/access/caller/authenticate.test.ts'],
      'router/access/browser': ['test/access/caller/browser.test.ts'],
      'router/access/filter': ['test/access/filter.test.ts'],
      'router/access/findings': ['test/access/{filter,findings}.test.ts'],
      'router/access/parameters': ['test/access/caller/parameters.test.ts'],
      'router/access/policies': ['test/access/rules.test.ts'],
      'router/access/refus': ['test/access/{filter,refusal}.test.ts'],
      'router/access/rules': ['test/access/rules.test.ts'],
      'router/access/known/session-cache': ['test/access/caller/session-cache.test.ts'],
      'router/access/strip': ['test/access/strip.test.ts'],
      'router/access/token': ['test/access/caller/token.test.ts'],
    },
  },
  {
    name: 'live',
    sources: /^router\/live\/[^/]+\.ts$/,
    tests: {
      'router/live/': ['test/live/*.test.ts'],
      'router/live/shares': ['test/live/shares.test.ts'],
      'router/live/streams': ['test/live/streams.test.ts'],
    },
  },
  {
    name: 'rules',
    sources: /^subgraphs\/(?:[^/]+\/[^/]+\/rules|publishing\/stores\/pace)\.ts$/,
    tests: {
      'subgraphs/identity/': ['test/rules/identity/*.test.ts'],
      'subgraphs/launcher/': ['test/rules/launcher/*.test.ts'],
      'subgraphs/agents/': ['test/rules/agents/*.test.ts'],
      'subgraphs/payments/': ['test/rules/payments/*.test.ts'],
      'subgraphs/providers/': ['test/rules/providers/*.test.ts'],
      'subgraphs/publishing/': ['test/rules/publishing/*.test.ts'],
    },
  },
  {
    // Decisions of the gateway about money and mails that need no database.
    name: 'gateway',
    sources: /^subgraphs\/providers\/(?:engines\/(?:spend\/(?:booking|decide|batchWriter)|models\/(?:prices|candidates))|email\/message\/rules)\.ts$/,
    tests: {
      'subgraphs/providers/engines/spend/': ['test/rules/providers/spend-limits.test.ts'],
      'subgraphs/providers/engines/spend/teller': ['test/rules/providers/teller.test.ts'],
      'subgraphs/providers/engines/models/': ['test/rules/providers/{prices,candidates}.test.ts'],
      'subgraphs/providers/email/': ['test/rules/providers/mails.test.ts'],
    },
  },
  {
    name: 'delivery',
    sources: /^subgraphs\/publishing\/(?:delivery\/(?!rules\.ts)[^/]+|stores\/attempt)\.ts$/,
    tests: {
      'subgraphs/publishing/delivery/claimed': ofDelivery('overtaken', 'doubt/taking-up', 'crash-points'),
      'subgraphs/publishing/delivery/conclude': ofDelivery('told', 'crash-points'),
      'subgraphs/publishing/delivery/deliver': ofDelivery('sending', 'crash-points'),
      'subgraphs/publishing/delivery/reconcile': ofDelivery('doubt/asking'),
      'subgraphs/publishing/delivery/renewal': ['test/rules/publishing/renewals-ended.test.ts', ...ofDelivery('renewal')],
      'subgraphs/publishing/delivery/resolvers': ofDelivery('doubt/resolve-delivery'),
      'subgraphs/publishing/delivery/retention': ofDelivery('retention', 'waking/readiness'),
      'subgraphs/publishing/delivery/sweep': ofDelivery('waking/sweep', 'waking/readiness', 'waking/held-back'),
      'subgraphs/publishing/delivery/take-up': ofDelivery('doubt/taking-up'),
      'subgraphs/publishing/delivery/wake-up': ofDelivery('waking/jobs'),
      'subgraphs/publishing/stores/attempt': ['test/db/tables.test.ts', ...ofDelivery('store')],
    },
  },
]
