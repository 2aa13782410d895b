import { z } from 'zod'
import { type Slug, slugs } from '../scopes.ts'

const id = z.uuid()
const moment = z.iso.datetime()
const organization = z.object({ organizationId: id })
const member = z.object({ ...organization.shape, membershipId: id, userId: id, userKind: z.enum(['HUMAN', 'SERVICE_ACCOUNT']), roles: z.array(z.string()) })
const memberSubject = ({ organizationId, userId }: z.infer<typeof member>) => `member:${organizationId}:${userId}`
const post = z.object({ postId: id, brandId: id, organizationId: id, threadId: id, platform: z.string(), code: z.string().nullable() })
/** Returns the key of a spend limit's attention for managers, used by `attention.opened` and `budget.alert`. */
export const budgetKey = (limitId: string): string => `spend_limit:${limitId}`
const profile = z.object({ ...organization.shape, profileId: id })
const aboutProfile = ({ profileId }: z.infer<typeof profile>) => `profile:${profileId}`
const payment = z.object({
  ...organization.shape,
  orderId: id,
  merchantId: id,
  amountMinor: z.int().positive(),
  currency: z.string().regex(/^[A-Z]{3}$/),
  at: moment,
})
const aboutOrder = ({ orderId }: z.infer<typeof payment>) => `order:${orderId}`

/** An application that is in use, or no longer: by an organization, or by a person in personal context. */
const installation = z.object({ app: z.string().min(1).max(80), organizationId: id.nullable(), userId: id })
const aboutInstallation = ({ app, organizationId, userId }: z.infer<typeof installation>) => `installation:${app}:${organizationId ?? userId}`
const installedApp = ({ app }: z.infer<typeof installation>) => app

/** Attention facts: one item for each key of a service, until the service closes it. */
const attention = z.object({
  /** The service's own name for the cause: the item is opened, changed and closed by it. */
  key: z.string().min(1).max(200),
  /** Kind of the item: `POST_FAILED`. Each service's contract defines its own. */
  kind: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/),
  /** Organization of the item; null for an item of one person without an organization. */
  organizationId: id.nullable(),
  /** Id of the record in question, in the service that sends the fact. */
  subjectId: z.string().min(1).max(200),
  title: z.string().min(1).max(300),
  /** Page on which a person can act. */
  url: z.url({ protocol: /^https?$/ }),
  at: moment,
  /** Who sees the item: everyone in the organization, its owners and admins, or `userId` alone. */
  audience: z.enum(['organization', 'managers', 'person']),
  userId: id.optional(),
  severity: z.enum(['CRITICAL', 'HIGH', 'NORMAL', 'LOW']).optional(),
  dueAt: moment.optional(),
  body: z.string().max(4_000).optional(),
})

const isSomebodys = ({ audience, organizationId, userId }: z.infer<typeof attention>) =>
  audience === 'person' ? userId !== undefined : organizationId !== null

interface Kind<Body extends z.ZodType = z.ZodType, To extends Slug = Slug> {
  readonly body: Body
  /** Returns the subject of a fact: facts of one subject arrive in order. */
  subject(body: z.infer<Body>): string
  /** Subgraphs that write the fact. */
  readonly from: readonly Slug[]
  /** Subgraphs that receive the fact, each by a handler of its own. */
  readonly to: readonly To[]
  /**
   * Returns the only receiver of a fact that is addressed to one; a fact addressed to none of the receivers is not
   * sent. @default all of them
   */
  only?(body: z.infer<Body>): string
}

const kind = <Body extends z.ZodType, const To extends Slug>(facts: Kind<Body, To>) => facts

/** The applications of the platform that the launcher installs. */
const applications = ['publishing', 'agents', 'payments', 'providers'] as const

/**
 * All facts between subgraphs: their content, writers and receivers. See `platform/jobs/facts/fact.ts` for the
 * delivery.
 */
export const factKinds = {
  'organization.created': kind({
    from: ['identity'],
    to: ['publishing', 'launcher', 'agents', 'payments', 'providers'],
    body: z.object({ ...organization.shape, slug: z.string(), name: z.string(), foundedBy: id.optional() }),
    subject: ({ organizationId }) => `organization:${organizationId}`,
  }),
  'organization.updated': kind({
    from: ['identity'],
    to: [],
    body: z.object({ ...organization.shape, slug: z.string(), name: z.string() }),
    subject: ({ organizationId }) => `organization:${organizationId}`,
  }),
  'membership.added': kind({ from: ['identity'], to: ['launcher'], body: member, subject: memberSubject }),
  'membership.changed': kind({ from: ['identity'], to: ['launcher'], body: member, subject: memberSubject }),
  'membership.removed': kind({
    from: ['identity'],
    to: ['publishing', 'launcher', 'agents', 'payments', 'providers'],
    body: member,
    subject: memberSubject,
  }),
  'service.registered': kind({
    from: ['identity'],
    to: ['launcher'],
    body: z.object({ serviceId: id, slug: z.string(), appId: z.string(), title: z.string(), environment: z.string(), lifecycle: z.string() }),
    subject: ({ serviceId }) => `service:${serviceId}`,
  }),
  'user.updated': kind({
    from: ['identity'],
    to: ['launcher'],
    body: z.object({ userId: id, name: z.string(), image: z.string().nullable(), suspendedAt: moment.nullable() }),
    subject: ({ userId }) => `user:${userId}`,
  }),
  'user.suspended': kind({ from: ['identity'], to: ['launcher'], body: z.object({ userId: id }), subject: ({ userId }) => `user:${userId}` }),
  'attention.opened': kind({
    from: slugs,
    to: ['launcher'],
    body: attention.refine(isSomebodys, 'an audience needs the organization or the person that it names'),
    subject: ({ key }) => `attention:${key}`,
  }),
  'attention.closed': kind({
    from: slugs,
    to: ['launcher'],
    body: attention.pick({ key: true }),
    subject: ({ key }) => `attention:${key}`,
  }),
  'post.published': kind({ from: ['publishing'], to: ['agents'], body: post, subject: ({ postId }) => `post:${postId}` }),
  'post.failed': kind({ from: ['publishing'], to: ['agents'], body: post, subject: ({ postId }) => `post:${postId}` }),
  /**
   * Events for a brand's webhook endpoints: no subgraph receives them, the writer stores them itself (`Telling.keep`).
   */
  'webhook.event': kind({
    from: ['publishing'],
    to: [],
    body: z.object({ brandId: id, event: z.string(), postId: id.nullable(), connectionId: id.nullable(), data: z.record(z.string(), z.unknown()) }),
    subject: ({ brandId }) => `brand:${brandId}`,
  }),
  'budget.alert': kind({
    from: ['providers'],
    to: ['launcher'],
    body: z.object({ ...organization.shape, limitId: id, scopeType: z.string(), kind: z.string() }),
    // Same subject as the attention to this limit, so the two become one item, in order.
    subject: ({ limitId }) => `attention:${budgetKey(limitId)}`,
  }),
  'email.outcome': kind({
    from: ['providers'],
    to: ['publishing', 'launcher', 'agents', 'payments'],
    body: z.object({ ...organization.shape, messageId: id, appId: z.string(), status: z.string() }),
    subject: ({ messageId }) => `email:${messageId}`,
    only: ({ appId }) => appId.replace(/^app_/, ''),
  }),
  'order.paid': kind({ from: ['payments'], to: ['launcher', 'agents'], body: payment, subject: aboutOrder }),
  /** Sent once for each refund that succeeded, with its amount. */
  'order.refunded': kind({ from: ['payments'], to: ['launcher'], body: payment, subject: aboutOrder }),
  /** For the installed application itself, if it is one of the platform's. */
  'app.installed': kind({ from: ['launcher'], to: applications, body: installation, subject: aboutInstallation, only: installedApp }),
  'app.uninstalled': kind({ from: ['launcher'], to: applications, body: installation, subject: aboutInstallation, only: installedApp }),
  'subscription.changed': kind({
    from: ['launcher'],
    to: applications,
    body: z.object({
      ownerType: z.enum(['ORGANIZATION', 'USER', 'LEAD']),
      ownerId: z.string().min(1).max(200),
      package: z.enum(['THREE', 'FIVE', 'TEN', 'EVERYTHING']),
      status: z.enum(['INCOMPLETE', 'TRIALING', 'ACTIVE', 'PAST_DUE', 'UNPAID', 'PAUSED', 'CANCELED']),
      seats: z.int().nonnegative(),
    }),
    subject: ({ ownerType, ownerId }) => `subscription:${ownerType}:${ownerId}`,
  }),
  'profile.erased': kind({ from: ['agents'], to: ['publishing'], body: profile, subject: aboutProfile }),
  /** Every authorization to use the profile has ended. */
  'profile.withdrawn': kind({ from: ['agents'], to: ['publishing'], body: profile, subject: aboutProfile }),
  /** For agents' own workflows: one run for each fact, whichever process dies in between. */
  'task.created': kind({
    from: ['agents'],
    to: ['agents'],
    body: z.object({ ...organization.shape, taskId: id, title: z.string().min(1).max(300) }),
    subject: ({ taskId }) => `task:${taskId}`,
  }),
  'run.failed': kind({
    from: ['agents'],
    to: ['agents'],
    body: z.object({ ...organization.shape, runId: id, code: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/) }),
    subject: ({ runId }) => `run:${runId}`,
  }),
}

export type FactKind = keyof typeof factKinds

/** Body of a fact of a kind. */
export type FactBody<K extends FactKind> = z.infer<(typeof factKinds)[K]['body']>

/** A fact to be written, beside `audit` and `wake` of the write path (`facts`). */
export type NewFact = { readonly [K in FactKind]: { readonly kind: K; readonly body: FactBody<K> } }[FactKind]

/** The kinds that a subgraph receives. */
export type KindsTo<S extends Slug> = { readonly [K in FactKind]: S extends (typeof factKinds)[K]['to'][number] ? K : never }[FactKind]

/** Returns the kind with a name from outside; null for an unknown one. */
export const kindOf = (name: string): Kind | null => (Object.hasOwn(factKinds, name) ? (factKinds[name as FactKind] as unknown as Kind) : null)
