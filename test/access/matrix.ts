import { everyScope, type Scope } from '../../subgraphs/scopes.ts'

/** Who stands in which column: a key with exactly the row's scopes, one without them, and people by their role. */
export const columns = ['anonymous', 'key', 'other key', 'viewer', 'member', 'owner', 'outsider'] as const
export type Column = (typeof columns)[number]

/**
 * What a caller gets: `yes`; `refused` by the router's access filter (401 or 403 on a route); `denied` by a rule of the
 * subgraph; `hidden`, as if it did not exist; `empty`, a list without entries; `nothing`, null without an error; `public`, a
 * route that never asks who calls.
 */
export const outcomes = ['yes', 'refused', 'denied', 'hidden', 'empty', 'nothing', 'public'] as const
export type Outcome = (typeof outcomes)[number]

/** Ids of the world that the rows ask about. `own` is the organization `acme`; the outsider owns another. */
export interface Ids {
  readonly organization: string
  readonly brand: string
  readonly post: string
  readonly waiting: string
  readonly failed: string
  readonly targeted: string
  /** What was made for this one cell, by the row's `needs`. */
  readonly fresh: string
}

/** What is made anew for each cell of a row that changes something. */
export type Fresh = 'post' | 'brand' | 'archived brand' | 'unknown post' | 'membership' | 'person' | 'key' | 'slug'

export interface FieldRow {
  /** `Type.field`. */
  readonly at: string
  /** The scopes of the column `key`. For what only people may have, all of them: no scope opens it. */
  readonly scopes: readonly Scope[]
  /** The scopes of the column `other key`: enough to come near, not enough to get in. */
  readonly less: readonly Scope[]
  readonly cells: string
  /** The operation's selection; the field is looked at where `path` leads. */
  readonly ask: (ids: Ids) => string
  readonly path: string
  readonly fresh?: Fresh
}

export interface RouteRow {
  /** Method and path as the tables have them, with the service's prefix. */
  readonly at: string
  readonly scopes: readonly Scope[]
  readonly less: readonly Scope[]
  readonly cells: string
  readonly path: (ids: Ids) => string
  readonly body?: (ids: Ids) => unknown
  readonly fresh?: Fresh
}

const readPosts: readonly Scope[] = ['publishing:posts.read']
/** Enough to be answered with the post that was written; not to read any other. */
const writePosts: readonly Scope[] = ['publishing:posts.write']
const accounts: readonly Scope[] = ['publishing:accounts.read']
/** Enough to be answered with the brand that was changed. */
const writeAccounts: readonly Scope[] = ['publishing:accounts.write']
const postsAndAccounts: readonly Scope[] = ['publishing:accounts.read', 'publishing:posts.read']
const figures: readonly Scope[] = ['publishing:dashboard.read']
const widgets: readonly Scope[] = ['launcher:widgets.read']
const widgetsAndFigures: readonly Scope[] = ['launcher:widgets.read', 'publishing:dashboard.read']
/** A key always has a scope: this one opens nothing here. */
const unrelated: readonly Scope[] = ['payments:reports.read']
const all = everyScope

// What most rows say.               anonymous key     other    viewer   member   owner    outsider
const everybody /*                */ = 'yes     yes     yes      yes      yes      yes      yes'
const knownCallers /*             */ = 'refused yes     yes      yes      yes      yes      yes'
const byScope /*                  */ = 'refused yes     refused  yes      yes      yes      hidden'
const byScopeEachTheirOwn /*      */ = 'refused yes     refused  yes      yes      yes      yes'
const byScopeNoneElsewhere /*     */ = 'refused yes     refused  yes      yes      yes      empty'
const writers /*                  */ = 'refused yes     refused  refused  yes      yes      hidden'
const accountants /*              */ = 'refused yes     refused  refused  refused  yes      hidden'
const people /*                   */ = 'refused refused refused  yes      yes      yes      yes'
const peopleOfIt /*               */ = 'refused refused refused  yes      yes      yes      hidden'
const services /*                 */ = 'refused refused refused  refused  refused  refused  refused'
const managers /*                 */ = 'refused refused refused  denied   denied   yes      yes'
const managersOfIt /*             */ = 'refused refused refused  denied   denied   yes      hidden'

const post = (field: string) => (ids: Ids) => `{ post(id: "${ids.post}") { ${field} } }`
const brand = (field: string) => (ids: Ids) => `{ brand(id: "${ids.brand}") { ${field} } }`
const posts = (field: string) => (ids: Ids) => `{ posts(brandId: "${ids.brand}") { ${field} } }`
const brands = (field: string) => () => `{ viewer { organization { brands { ${field} } } } }`
const change = (name: string, input: (ids: Ids) => string, selection: string) => (ids: Ids) => `mutation { ${name}(input: { ${input(ids)} }) { ${selection} } }`
const constant = (document: string) => () => document

const row = (
  at: string,
  scopes: readonly Scope[],
  less: readonly Scope[],
  cells: string,
  ask: (ids: Ids) => string,
  path: string,
  fresh?: Fresh,
): FieldRow => ({
  at,
  scopes,
  less,
  cells,
  ask,
  path,
  ...(fresh && { fresh }),
})

export const queryRows: readonly FieldRow[] = [
  row('Query.viewer', unrelated, unrelated, everybody, constant('{ viewer { kind } }'), 'viewer'),
  row('Query.service', unrelated, unrelated, knownCallers, constant('{ service(slug: "publishing") { slug } }'), 'service'),
  row('Query.services', unrelated, unrelated, knownCallers, constant('{ services { slug } }'), 'services'),
  row('Query.memberships', all, unrelated, people, constant('{ memberships { nodes { id } } }'), 'memberships'),
  row('Query.organizationMembers', all, unrelated, people, constant('{ organizationMembers { nodes { id } } }'), 'organizationMembers'),
  row(
    'Query.memberRights',
    all,
    unrelated,
    services,
    ({ organization }) => `{ memberRights(userId: "${organization}", organizationId: "${organization}") { scopes } }`,
    'memberRights',
  ),
  row('Query.apiKeys', all, unrelated, managers, constant('{ apiKeys { nodes { id } } }'), 'apiKeys'),
  row('Query.brand', accounts, readPosts, byScope, brand('id'), 'brand'),
  row('Query.brands', accounts, readPosts, byScopeEachTheirOwn, constant('{ brands { nodes { id } } }'), 'brands'),
  row('Query.post', readPosts, accounts, byScope, post('id'), 'post'),
  row('Query.posts', readPosts, accounts, byScopeEachTheirOwn, constant('{ posts { nodes { id } } }'), 'posts'),
  row('Query.publishingWidget', figures, widgets, byScopeEachTheirOwn, constant('{ publishingWidget { statistics { key } } }'), 'publishingWidget'),
  row('Query.widgets', widgetsAndFigures, figures, byScopeEachTheirOwn, constant('{ widgets { id } }'), 'widgets'),
]

export const mutationRows: readonly FieldRow[] = [
  row(
    'Mutation.createPost',
    writePosts,
    readPosts,
    writers,
    change('createPost', ({ brand: id }) => `brandId: "${id}", platform: X, copy: "x"`, 'id'),
    'createPost',
  ),
  row(
    'Mutation.updatePost',
    writePosts,
    readPosts,
    writers,
    change('updatePost', ({ fresh }) => `id: "${fresh}", copy: "x"`, 'id'),
    'updatePost',
    'post',
  ),
  row(
    'Mutation.reschedulePost',
    writePosts,
    readPosts,
    writers,
    change('reschedulePost', ({ fresh }) => `id: "${fresh}", scheduledAt: "2099-01-01T00:00:00Z"`, 'id'),
    'reschedulePost',
    'post',
  ),
  row(
    'Mutation.deletePost',
    writePosts,
    readPosts,
    writers,
    change('deletePost', ({ fresh }) => `id: "${fresh}"`, 'id'),
    'deletePost',
    'post',
  ),
  row(
    'Mutation.resolveDelivery',
    writePosts,
    readPosts,
    writers,
    change('resolveDelivery', ({ fresh }) => `id: "${fresh}", platformPostId: null`, 'id'),
    'resolveDelivery',
    'unknown post',
  ),
  row(
    'Mutation.createBrand',
    writeAccounts,
    accounts,
    'refused yes refused refused refused yes yes',
    change('createBrand', () => `name: "New"`, 'id'),
    'createBrand',
  ),
  row(
    'Mutation.updateBrand',
    writeAccounts,
    accounts,
    accountants,
    change('updateBrand', ({ fresh }) => `id: "${fresh}", name: "New"`, 'id'),
    'updateBrand',
    'brand',
  ),
  row(
    'Mutation.archiveBrand',
    writeAccounts,
    accounts,
    accountants,
    change('archiveBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
    'archiveBrand',
    'brand',
  ),
  row(
    'Mutation.restoreBrand',
    writeAccounts,
    accounts,
    accountants,
    change('restoreBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
    'restoreBrand',
    'archived brand',
  ),
  row(
    'Mutation.connectIntegration',
    all,
    accounts,
    'refused refused refused refused refused yes hidden',
    change('connectIntegration', ({ brand: id }) => `brandId: "${id}", platform: X`, 'authorizationUrl'),
    'connectIntegration',
  ),
  row(
    'Mutation.createOrganization',
    all,
    unrelated,
    people,
    change('createOrganization', ({ fresh }) => `name: "New", slug: "${fresh}"`, 'id'),
    'createOrganization',
    'slug',
  ),
  row(
    'Mutation.switchOrganization',
    all,
    unrelated,
    peopleOfIt,
    change('switchOrganization', ({ organization }) => `organizationId: "${organization}"`, 'expiresAt'),
    'switchOrganization',
  ),
  row(
    'Mutation.addMember',
    all,
    unrelated,
    managers,
    change('addMember', ({ fresh }) => `email: "${fresh}", roles: [MEMBER]`, 'id'),
    'addMember',
    'person',
  ),
  row(
    'Mutation.changeMemberRoles',
    all,
    unrelated,
    managersOfIt,
    change('changeMemberRoles', ({ fresh }) => `id: "${fresh}", roles: [VIEWER]`, 'id'),
    'changeMemberRoles',
    'membership',
  ),
  row(
    'Mutation.removeMember',
    all,
    unrelated,
    managersOfIt,
    change('removeMember', ({ fresh }) => `id: "${fresh}"`, 'id'),
    'removeMember',
    'membership',
  ),
  row(
    'Mutation.createApiKey',
    all,
    unrelated,
    managers,
    change('createApiKey', () => `name: "New", scopes: ["publishing:posts.read"]`, 'secret'),
    'createApiKey',
  ),
  row(
    'Mutation.revokeApiKey',
    all,
    unrelated,
    managersOfIt,
    change('revokeApiKey', ({ fresh }) => `id: "${fresh}"`, 'id'),
    'revokeApiKey',
    'key',
  ),
]

export const subscriptionRows: readonly FieldRow[] = [
  row(
    'Subscription.postStatusChanged',
    readPosts,
    accounts,
    byScope,
    ({ brand: id }) => `subscription { postStatusChanged(brandId: "${id}") { id } }`,
    'postStatusChanged',
  ),
  row('Subscription.widgetUpdated', widgets, figures, byScopeEachTheirOwn, constant('subscription { widgetUpdated { id } }'), 'widgetUpdated'),
]

/** Every field that leads to another type, and every field with a rule of its own. */
export const edgeRows: readonly FieldRow[] = [
  row('Viewer.user', unrelated, unrelated, 'refused nothing nothing yes yes yes yes', constant('{ viewer { user { id } } }'), 'viewer.user'),
  row('Viewer.organization', unrelated, unrelated, knownCallers, constant('{ viewer { organization { id } } }'), 'viewer.organization'),
  row('User.email', all, unrelated, people, constant('{ viewer { user { email } } }'), 'viewer.user.email'),
  row('Organization.brands', accounts, readPosts, byScopeEachTheirOwn, brands('pageInfo { hasNextPage }'), 'viewer.organization.brands'),
  row(
    'Organization.memberships',
    all,
    unrelated,
    people,
    constant('{ viewer { organization { memberships { totalCount } } } }'),
    'viewer.organization.memberships',
  ),
  row('Brand.connections', accounts, readPosts, byScope, brand('connections { id }'), 'brand.connections'),
  row('PostConnection.nodes', readPosts, accounts, byScopeNoneElsewhere, posts('nodes { id }'), 'posts.nodes'),
  row('Post.brand', postsAndAccounts, readPosts, byScope, post('brand { id }'), 'post.brand'),
  row('Post.connection', postsAndAccounts, readPosts, byScope, post('connection { id }'), 'post.connection'),
  row('Post.waitsFor', readPosts, accounts, byScope, ({ waiting }) => `{ post(id: "${waiting}") { waitsFor { id } } }`, 'post.waitsFor'),
  row('Post.failure', readPosts, accounts, byScope, ({ failed }) => `{ post(id: "${failed}") { failure { code } } }`, 'post.failure'),
  row('Post.target', readPosts, accounts, byScope, ({ targeted }) => `{ post(id: "${targeted}") { target { kind } } }`, 'post.target'),
  row('WidgetPayload.items', figures, widgets, byScopeNoneElsewhere, constant('{ publishingWidget { items { id } } }'), 'publishingWidget.items'),
  row(
    'WidgetPayload.nextAction',
    figures,
    widgets,
    'refused yes refused yes yes yes nothing',
    constant('{ publishingWidget { nextAction { url } } }'),
    'publishingWidget.nextAction',
  ),
  row(
    'CreatedApiKey.apiKey',
    all,
    unrelated,
    managers,
    change('createApiKey', () => `name: "New", scopes: ["publishing:posts.read"]`, 'apiKey { id }'),
    'createApiKey.apiKey',
  ),
]

const publicRoute = 'public public public public public public public'

export const routeRows: readonly RouteRow[] = [
  { at: 'GET /publishing/api/brands', scopes: accounts, less: readPosts, cells: byScopeEachTheirOwn, path: () => '/publishing/api/brands' },
  {
    at: 'POST /publishing/api/brands',
    scopes: writeAccounts,
    less: accounts,
    cells: 'refused yes refused refused refused yes yes',
    path: () => '/publishing/api/brands',
    body: () => ({ name: 'New' }),
  },
  { at: 'GET /publishing/api/brands/:brandId', scopes: accounts, less: readPosts, cells: byScope, path: ids => `/publishing/api/brands/${ids.brand}` },
  {
    at: 'PUT /publishing/api/brands/:brandId',
    scopes: writeAccounts,
    less: accounts,
    cells: accountants,
    path: ids => `/publishing/api/brands/${ids.fresh}`,
    body: () => ({ name: 'New' }),
    fresh: 'brand',
  },
  {
    at: 'POST /publishing/api/brands/:brandId/archive',
    scopes: writeAccounts,
    less: accounts,
    cells: accountants,
    path: ids => `/publishing/api/brands/${ids.fresh}/archive`,
    fresh: 'brand',
  },
  {
    at: 'POST /publishing/api/brands/:brandId/restore',
    scopes: writeAccounts,
    less: accounts,
    cells: accountants,
    path: ids => `/publishing/api/brands/${ids.fresh}/restore`,
    fresh: 'archived brand',
  },
  { at: 'GET /publishing/api/posts', scopes: readPosts, less: accounts, cells: byScopeEachTheirOwn, path: () => '/publishing/api/posts' },
  {
    at: 'POST /publishing/api/posts',
    scopes: writePosts,
    less: readPosts,
    cells: writers,
    path: () => '/publishing/api/posts',
    body: ids => ({ brandId: ids.brand, platform: 'x', copy: 'x' }),
  },
  { at: 'GET /publishing/api/posts/:id', scopes: readPosts, less: accounts, cells: byScope, path: ids => `/publishing/api/posts/${ids.post}` },
  {
    at: 'PUT /publishing/api/posts/:id',
    scopes: writePosts,
    less: readPosts,
    cells: writers,
    path: ids => `/publishing/api/posts/${ids.fresh}`,
    body: () => ({ copy: 'y' }),
    fresh: 'post',
  },
  {
    at: 'DELETE /publishing/api/posts/:id',
    scopes: writePosts,
    less: readPosts,
    cells: writers,
    path: ids => `/publishing/api/posts/${ids.fresh}`,
    fresh: 'post',
  },
  {
    at: 'POST /publishing/api/integrations/:platform/connect',
    scopes: all,
    less: accounts,
    cells: 'refused refused refused refused refused yes hidden',
    path: () => '/publishing/api/integrations/x/connect',
    body: ids => ({ brandId: ids.brand }),
  },
  {
    at: 'GET /publishing/api/integrations/:platform/callback',
    scopes: all,
    less: unrelated,
    cells: publicRoute,
    path: () => '/publishing/api/integrations/x/callback?state=nobody',
  },
  {
    at: 'POST /publishing/api/integrations/:platform/callback',
    scopes: all,
    less: unrelated,
    cells: publicRoute,
    path: () => '/publishing/api/integrations/x/callback',
  },
  { at: 'GET /publishing/api/widget', scopes: figures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/publishing/api/widget' },
  { at: '* /identity/api/auth/*', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/api/auth/no-such-thing' },
  { at: 'GET /identity/login', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/login' },
  { at: 'POST /identity/login', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/login' },
  { at: 'GET /identity/setup', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/setup?code=nobody-knows' },
  { at: 'POST /identity/setup', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/setup?code=nobody-knows' },
]
