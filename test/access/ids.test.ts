import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLInputType, type GraphQLSchema, getNamedType, isInputObjectType, Kind, parse, type ValueNode, visit } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { routeTables } from '../../router/rest/tables.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { seedAgent } from '../subgraphs/agents/agent/seed.ts'
import { seedConnector } from '../subgraphs/agents/connector/seed.ts'
import { seedKnowledge } from '../subgraphs/agents/knowledge/seed.ts'
import { seedProfile } from '../subgraphs/agents/person-profile/seed.ts'
import { seedWorkflow } from '../subgraphs/agents/workflow/seed.ts'
import { seedAttention } from '../subgraphs/launcher/action-item/seed.ts'
import { seedDispute, seedFile } from '../subgraphs/payments/dispute/seed.ts'
import { seedDomain, seedIdentity } from '../subgraphs/providers/email/seed.ts'
import { seedBrand } from '../subgraphs/publishing/brand/seed.ts'
import { seedAsset, seedFolder } from '../subgraphs/publishing/media/seed.ts'
import { seedCampaign } from '../subgraphs/publishing/planning/seed.ts'
import { seedPost } from '../subgraphs/publishing/post/seed.ts'
import { fieldRows, routeRows } from './matrix.ts'
import { columns } from './row.ts'

const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'))

/** Where an operation takes an id: `Mutation.revokeApiKey(input.id)`, by the arguments of every field and the fields of their inputs. */
function placesOfIds(of: GraphQLSchema): readonly string[] {
  const places: string[] = []
  const walk = (type: GraphQLInputType, at: string, path: string, above: readonly string[]) => {
    const named = getNamedType(type)
    if (named.name === 'ID') places.push(`${at}(${path})`)
    else if (isInputObjectType(named) && !above.includes(named.name))
      for (const field of Object.values(named.getFields())) walk(field.type, at, `${path}.${field.name}`, [...above, named.name])
  }
  for (const type of Object.values(of.getTypeMap()))
    if ('getFields' in type && !isInputObjectType(type) && !type.name.startsWith('__'))
      for (const field of Object.values(type.getFields()))
        if ('args' in field) for (const argument of field.args) walk(argument.type, `${type.name}.${field.name}`, argument.name, [])
  return places.sort()
}

/** An id for every name that rows ask about, so that what they write down can be found again. */
const ids = new Proxy({}, { get: (known: Record<string, string>, name: string) => (known[name] ??= newId()) }) as Record<string, string>

/** Where the rows of the matrix give an id of `acme` to somebody who is not of it, and what that one is answered. */
function triedPlaces(): ReadonlyMap<string, string> {
  const tried = new Map<string, string>()
  for (const { at, ask, cells } of fieldRows) {
    const outsider = cells.split(/\s+/)[columns.indexOf('outsider')]!
    const [root, name] = at.split('.') as [string, string]
    visit(parse(ask(ids)), {
      Field(field) {
        if (field.name.value !== name) return
        const walk = (value: ValueNode, path: string) => {
          if (value.kind === Kind.STRING && Object.values(ids).includes(value.value)) tried.set(`${root}.${name}(${path})`, outsider)
          if (value.kind === Kind.LIST) for (const each of value.values) walk(each, path)
          if (value.kind === Kind.OBJECT) for (const each of value.fields) walk(each.value, `${path}.${each.name.value}`)
        }
        for (const argument of field.arguments ?? []) walk(argument.value, argument.name.value)
      },
    })
  }
  return tried
}

const theProcessors = 'the processor gave it, of one account for the whole platform or of the organization’s own, and services alone get that far'

/** What takes an id of nothing that an organization has, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  'Mutation.resolveDelivery(input.platformPostId)': 'the network gave it, and it is kept as it was sent',
  'Mutation.submitSettlementBatch(input.policyDecisionId)': 'the settlement service decided by it; it is kept as it was sent, and opens nothing',
  'Query.lead(id)': 'leads are the platform’s, and who looks after it sees all of them',
  'Mutation.updateLead(input.id)': 'leads are the platform’s, and who looks after it sees all of them',
  'Query.consentDecision(subjectId)': 'a browser chose it at random, and alone knows it',
  'Mutation.recordConsent(input.subjectId)': 'a browser chose it at random, and alone knows it',
  'Mutation.reconcileSeats(input.organizationId)': 'the launcher alone asks it, of any organization',
  ...Object.fromEntries(
    ['toolCallId', 'toolCalls.id'].map(name => [
      `Mutation.createCompletion(input.messages.${name})`,
      'a model named its call, and the id goes to the model alone',
    ]),
  ),
  'Mutation.launchApp(input.actionItemId)': 'an item is looked up as the viewer sees it; launch.test.ts tries one of another context',
  'Mutation.createHandoff(input.sessionId)': 'the launcher alone names a session; handoff.test.ts tries those of other people and ended ones',
  'Mutation.updateDashboardLayout(input.boards.id)': 'a board is a part of the layout that is changed; layout.test.ts names one of another layout',
  'Mutation.updateOrganizationLayout(input.boards.id)': 'a board is a part of the layout that is changed',
  'Mutation.setServiceMaintenance(input.serviceId)': 'services are the platform’s, and the same for everybody',
  'Mutation.suspendUser(input.id)': 'who looks after the platform may suspend anybody',
  'Mutation.setVideoQuota(input.organizationId)': 'the quota is the platform’s, and who looks after it gives every organization its part',
  'Mutation.suspendSenderDomain(input.id)': 'who looks after the platform may suspend anybody’s domain',
  'Mutation.reinstateUser(input.id)': 'who looks after the platform may let anybody in again',
  'Mutation.disableOAuthClient(input.id)': 'clients are the platform’s, and who looks after it sees all of them',
  'Mutation.updateOAuthClient(input.id)': 'clients are the platform’s, and who looks after it sees all of them',
  ...Object.fromEntries(
    [
      'Mutation.issueServiceToken(input.serviceClientId)',
      'Mutation.revokeServiceToken(input.id)',
      'Mutation.revokeServiceToken(input.tokenId)',
      'Mutation.updateServiceClient(input.id)',
      'Query.serviceClient(id)',
    ].map(place => [place, 'service clients are the platform’s, and who looks after it sees all of them']),
  ),
  ...Object.fromEntries(
    [
      ...['attachProcessorPaymentMethod(input.customerId)', 'attachProcessorPaymentMethod(input.paymentMethodId)', 'cancelProcessorPaymentIntent(input.id)'],
      ...['captureProcessorPaymentIntent(input.id)', 'changeProcessorSubscriptionQuantity(input.itemId)'],
      ...['changeProcessorSubscriptionQuantity(input.subscriptionId)', 'createProcessorCheckoutSession(input.customerId)'],
      ...['createProcessorCheckoutSession(input.lineItems.priceId)', 'createProcessorPaymentIntent(input.customerId)'],
      ...['createProcessorPaymentIntent(input.paymentMethodId)', 'createProcessorPortalSession(input.customerId)', 'createProcessorPrice(input.productId)'],
      ...['createProcessorRefund(input.paymentIntentId)', 'createProcessorTransfer(input.destinationAccountId)', 'detachProcessorPaymentMethod(input.id)'],
      ...['expireProcessorCheckoutSession(input.id)', 'reverseProcessorTransfer(input.id)'],
      'closeProcessorDispute(input.id)',
      'updateProcessorDispute(input.fileIds)',
      'updateProcessorDispute(input.id)',
    ].map(place => [`Mutation.${place}`, theProcessors]),
  ),
  ...Object.fromEntries(
    [
      ...['processorCheckoutSession(id)', 'processorInvoicePreview(input.customerId)', 'processorInvoicePreview(input.items.itemId)'],
      ...['processorInvoicePreview(input.items.priceId)', 'processorInvoicePreview(input.subscriptionId)', 'processorPaymentIntent(id)'],
      ...['processorRefund(id)', 'processorSubscription(id)', 'processorTransfer(id)'],
    ].map(place => [`Query.${place}`, theProcessors]),
  ),
  'Mutation.executeAction(input.gate.approvers)': 'who is no member is refused, of another organization or of none alike',
  'Mutation.createApprovalLink(input.userId)': 'who is no member is refused, of another organization or of none alike',
  'Mutation.applyPersonProfile(input.id)': 'products alone get that far, for the organization that they name; profile-use.test.ts tries another one',
  'Mutation.assignActionItem(input.assigneeId)': 'who does not see the item is refused, of another organization or of none alike; queue.test.ts tries both',
  'Mutation.updateTask(input.assigneeId)': 'who is no member is refused, of another organization or of none alike',
  'Mutation.updateBrand(input.approverIds)': 'who is no member is refused, of another organization or of none alike, as below',
  'Mutation.renewConnection(input.id)': 'publishing’s own calls alone get that far, and they name the organization that they are for',
  ...Object.fromEntries(
    ['default', 'targets'].map(name => [
      `Mutation.selectConnectionTargets(input.${name}.externalId)`,
      'the network gave it, and it is looked for among the places of the connection that is named',
    ]),
  ),
  ...Object.fromEntries(
    ['createCustomer', 'updateCustomer'].map(name => [
      `Mutation.${name}(input.userId)`,
      'a customer is seldom a member: the id is kept as it was given, and identity decides who is shown the person',
    ]),
  ),
  'Mutation.reverseSettlementBatch(input.id)': 'the settlement service alone turns batches back; settlement.test.ts tries one of another organization',
  'Query.apiKeyMaker(id)': 'payments alone asks it, of a key that has asked it for something',
  'Query.accountOf(userId)': 'the launcher alone asks it, on behalf of that person; services.test.ts tries another one',
  'Query.accountOf(sessionId)': 'it is looked for among the sessions of the person',
  'Mutation.completeServiceOnboarding(input.serviceId)': 'services are the platform’s, and the same for everybody',
  ...Object.fromEntries(
    [
      'Query.household(id)',
      'Mutation.updateHousehold(input.id)',
      'Mutation.deleteHousehold(input.id)',
      'Mutation.inviteToHousehold(input.householdId)',
      'Mutation.acceptHouseholdInvitation(input.id)',
      'Mutation.declineHouseholdInvitation(input.id)',
      'Mutation.withdrawHouseholdInvitation(input.id)',
      'Mutation.changeHouseholdRole(input.householdId)',
      'Mutation.changeHouseholdRole(input.userId)',
      'Mutation.removeHouseholdMember(input.householdId)',
      'Mutation.removeHouseholdMember(input.userId)',
      'Mutation.selectHousehold(input.id)',
    ].map(place => [place, 'households are asked for in personal context alone, which no row has; household.test.ts tries strangers']),
  ),
  'Query.contactOf(userId)': 'the launcher alone asks it, of anybody whom it writes to',
  'Query.membershipsOf(organizationId)': 'the launcher alone asks it, of any organization',
  'Query.memberRights(organizationId)': 'services ask what somebody may do in any organization',
  'Query.memberRights(userId)': 'services ask it of anybody',
}

interface Foreign {
  readonly person: string
  readonly organization: string
  readonly brand: string
  readonly thread: string
  readonly post: string
  readonly group: string
  readonly campaign: string
  readonly asset: string
  readonly folder: string
  readonly profile: string
  readonly source: string
  readonly snapshot: string
  readonly authorization: string
  readonly session: string
  readonly identity: string
  readonly workflow: string
  readonly agent: string
  readonly file: string
  readonly knowledge: string
  readonly connector: string
  readonly item: string
  /** Of the one who asks. */
  readonly own: {
    readonly dispute: string
    readonly brand: string
    readonly profile: string
    readonly snapshot: string
    readonly authorization: string
    readonly source: string
    readonly post: string
    readonly asset: string
    readonly folder: string
    readonly workflow: string
    readonly agent: string
  }
}

type Try = (foreign: Foreign) => string

/** A mutation of the outsider's own brand. */
const inOwnBrand =
  (name: string, more: (foreign: Foreign) => string, selection: string): Try =>
  foreign =>
    `mutation { ${name}(input: { brandId: "${foreign.own.brand}", ${more(foreign)} }) { ${selection} } }`
/** A mutation of what the outsider has. */
const ofOwn =
  (name: string, what: keyof Foreign['own'], more: (foreign: Foreign) => string): Try =>
  foreign =>
    `mutation { ${name}(input: { id: "${foreign.own[what]}", ${more(foreign)} }) { id } }`
const composed = (more: (foreign: Foreign) => string) => (foreign: Foreign) => `platforms: [X], copy: "x", ${more(foreign)}`
const checked =
  (more: (foreign: Foreign) => string): Try =>
  foreign =>
    `{ postChecks(input: { brandId: "${foreign.own.brand}", ${composed(more)(foreign)} }) { length } }`
const campaign = (foreign: Foreign) => `campaignId: "${foreign.campaign}"`
const media = (foreign: Foreign) => `media: [{ assetId: "${foreign.asset}" }]`
const overrides = (foreign: Foreign) => `overrides: [{ platform: X, ${media(foreign)} }]`

const asking = (person: string) => `{ key: "a", kind: APPROVAL, gate: { title: "x", approvers: ["${person}"] } }`

/** What may be given an id, besides what has to be: each asked with one of another organization, whatever else it takes being one's own. */
const tries: Readonly<Record<string, Try>> = {
  'Mutation.orderFavourites(input.ids)': ({ person }) => `mutation { orderFavourites(input: { ids: ["${person}"] }) { id } }`,
  'Mutation.composePosts(input.campaignId)': inOwnBrand('composePosts', composed(campaign), 'groupId'),
  'Mutation.composePosts(input.media.assetId)': inOwnBrand('composePosts', composed(media), 'groupId'),
  'Mutation.composePosts(input.overrides.media.assetId)': inOwnBrand('composePosts', composed(overrides), 'groupId'),
  'Mutation.createApiKey(input.serviceAccountId)': ({ person }) =>
    `mutation { createApiKey(input: { name: "x", scopes: ["publishing:posts.read"], serviceAccountId: "${person}" }) { apiKey { id } } }`,
  'Mutation.createMediaFolder(input.parentId)': inOwnBrand('createMediaFolder', ({ folder }) => `name: "x", parentId: "${folder}"`, 'id'),
  'Mutation.createOrder(input.merchantId)': ({ organization }) =>
    `mutation { createOrder(input: { merchantId: "${organization}", currency: "EUR", lines: [{ name: "x", unitAmountMinor: "100" }] }) { id } }`,
  'Mutation.updateOrder(input.customerId)': ({ organization }) =>
    `mutation { updateOrder(input: { id: "${organization}", customerId: "${organization}" }) { id } }`,
  'Mutation.payOrder(input.paymentMethodId)': ({ organization }) =>
    `mutation { payOrder(input: { orderId: "${organization}", paymentMethodId: "${organization}" }) { id } }`,
  'Mutation.createOrder(input.customerId)': ({ organization }) =>
    `mutation { createOrder(input: { customerId: "${organization}", currency: "EUR", lines: [{ name: "x", unitAmountMinor: "100" }] }) { id } }`,
  'Mutation.createOrder(input.venueId)': ({ organization }) =>
    `mutation { createOrder(input: { venueId: "${organization}", currency: "EUR", lines: [{ name: "x", unitAmountMinor: "100" }] }) { id } }`,
  'Mutation.submitDisputeEvidence(input.evidence.files)': ({ file, own }) =>
    `mutation { submitDisputeEvidence(input: { id: "${own.dispute}", evidence: { files: ["${file}"] } }) { id } }`,
  'Mutation.createInvoice(input.merchantId)': ({ organization }) =>
    `mutation { createInvoice(input: { customerId: "${organization}", merchantId: "${organization}", currency: "EUR", lines: [] }) { id } }`,
  'Mutation.createInvoice(input.orderId)': ({ organization }) =>
    `mutation { createInvoice(input: { customerId: "${organization}", orderId: "${organization}" }) { id } }`,
  'Mutation.updateInvoice(input.customerId)': ({ organization }) =>
    `mutation { updateInvoice(input: { id: "${organization}", customerId: "${organization}" }) { id } }`,
  'Mutation.createAgent(input.personProfileId)': ({ profile }) =>
    `mutation { createAgent(input: { name: "x", instructions: "x", personProfileId: "${profile}" }) { id } }`,
  'Mutation.createAgent(input.knowledgeSourceIds)': ({ knowledge }) =>
    `mutation { createAgent(input: { name: "x", instructions: "x", knowledgeSourceIds: ["${knowledge}"] }) { id } }`,
  'Mutation.createAgent(input.connectorTools.connectorId)': ({ connector }) =>
    `mutation { createAgent(input: { name: "x", instructions: "x", connectorTools: [{ connectorId: "${connector}", name: "x" }] }) { id } }`,
  'Mutation.updateAgent(input.knowledgeSourceIds)': ofOwn('updateAgent', 'agent', ({ knowledge }) => `knowledgeSourceIds: ["${knowledge}"]`),
  'Mutation.updateAgent(input.connectorTools.connectorId)': ofOwn(
    'updateAgent',
    'agent',
    ({ connector }) => `connectorTools: [{ connectorId: "${connector}", name: "x" }]`,
  ),
  'Mutation.updateAgent(input.personProfileId)': ofOwn('updateAgent', 'agent', ({ profile }) => `personProfileId: "${profile}"`),
  'Mutation.createPersonProfile(input.subjectId)': ({ person }) =>
    `mutation { createPersonProfile(input: { displayName: "x", subjectId: "${person}" }) { id } }`,
  'Mutation.createWorkflow(input.steps.gate.approvers)': ({ person }) =>
    `mutation { createWorkflow(input: { name: "x", trigger: { kind: MANUAL }, steps: [${asking(person)}] }) { id } }`,
  'Mutation.updateWorkflow(input.steps.gate.approvers)': ofOwn('updateWorkflow', 'workflow', ({ person }) => `steps: [${asking(person)}]`),
  'Mutation.setKillSwitch(input.agentId)': ({ agent }) => `mutation { setKillSwitch(input: { engaged: true, agentId: "${agent}" }) { id } }`,
  'Mutation.createTask(input.assigneeId)': ({ person }) => `mutation { createTask(input: { title: "x", assigneeId: "${person}" }) { id } }`,
  'Mutation.activateStyleSnapshot(input.id)': ({ snapshot }) => `mutation { activateStyleSnapshot(input: { id: "${snapshot}" }) { id } }`,
  'Mutation.deleteProfileSource(input.id)': ({ source }) => `mutation { deleteProfileSource(input: { id: "${source}" }) { id } }`,
  'Mutation.deleteProfileSource(input.personProfileId)': ({ profile, own }) =>
    `mutation { deleteProfileSource(input: { id: "${own.source}", personProfileId: "${profile}" }) { id } }`,
  'Mutation.revokeProfileAuthorization(input.id)': ({ authorization }) => `mutation { revokeProfileAuthorization(input: { id: "${authorization}" }) { id } }`,
  'Mutation.revokeProfileAuthorization(input.personProfileId)': ({ profile, own }) =>
    `mutation { revokeProfileAuthorization(input: { id: "${own.authorization}", personProfileId: "${profile}" }) { id } }`,
  'Query.styleChanges(fromId)': ({ snapshot, own }) => `{ styleChanges(fromId: "${snapshot}", toId: "${own.snapshot}") { field } }`,
  'Query.styleChanges(toId)': ({ snapshot, own }) => `{ styleChanges(fromId: "${own.snapshot}", toId: "${snapshot}") { field } }`,
  'Query.styleChanges(personProfileId)': ({ profile, own }) =>
    `{ styleChanges(fromId: "${own.snapshot}", toId: "${own.snapshot}", personProfileId: "${profile}") { field } }`,
  'Mutation.createWorkflow(input.steps.workflowId)': ({ workflow }) =>
    `mutation { createWorkflow(input: { name: "x", trigger: { kind: MANUAL }, steps: [{ key: "a", kind: RUN, workflowId: "${workflow}" }] }) { id } }`,
  'Mutation.createWorkflow(input.steps.agentId)': ({ agent }) =>
    `mutation { createWorkflow(input: { name: "x", trigger: { kind: MANUAL }, steps: [{ key: "a", kind: MODEL, prompt: "x", agentId: "${agent}" }] }) { id } }`,
  'Mutation.updateWorkflow(input.steps.agentId)': ofOwn(
    'updateWorkflow',
    'workflow',
    ({ agent }) => `steps: [{ key: "a", kind: MODEL, prompt: "x", agentId: "${agent}" }]`,
  ),
  'Mutation.createWorkflow(input.steps.connectorId)': ({ workflow }) =>
    `mutation { createWorkflow(input: { name: "x", trigger: { kind: MANUAL }, steps: [{ key: "a", kind: TOOL, connectorId: "${workflow}", tool: "x" }] }) { id } }`,
  'Mutation.createPost(input.campaignId)': inOwnBrand('createPost', foreign => `platform: X, copy: "x", ${campaign(foreign)}`, 'id'),
  'Mutation.createPost(input.media.assetId)': inOwnBrand('createPost', foreign => `platform: X, copy: "x", ${media(foreign)}`, 'id'),
  'Mutation.createPost(input.threadId)': ({ thread, own }) =>
    `mutation { createPost(input: { brandId: "${own.brand}", platform: X, copy: "x", threadId: "${thread}" }) { id } }`,
  'Mutation.createPostThread(input.posts.media.assetId)': inOwnBrand(
    'createPostThread',
    foreign => `platform: X, posts: [{ copy: "x", ${media(foreign)} }]`,
    'id',
  ),
  'Mutation.createStyleSnapshot(input.sourceIds)': ({ source, own }) =>
    `mutation { createStyleSnapshot(input: { personProfileId: "${own.profile}", sourceIds: ["${source}"] }) { id } }`,
  'Mutation.completeActionItems(input.ids)': ({ item }) => `mutation { completeActionItems(input: { ids: ["${item}"] }) { results { error { code } } } }`,
  'Mutation.deletePosts(input.items.id)': ({ post }) => `mutation { deletePosts(input: { items: [{ id: "${post}" }] }) { results { error { code } } } }`,
  'Mutation.generateImages(input.postId)': inOwnBrand('generateImages', ({ post }) => `prompt: "x", postId: "${post}"`, 'images { id }'),
  'Mutation.importMedia(input.folderId)': inOwnBrand('importMedia', ({ folder }) => `url: "https://pictures.example/x.png", folderId: "${folder}"`, 'id'),
  'Mutation.refreshTrends(input.brandId)': ({ brand }) => `mutation { refreshTrends(input: { brandId: "${brand}" }) { fetchedAt } }`,
  'Mutation.reschedulePosts(input.items.id)': ({ post }) =>
    `mutation { reschedulePosts(input: { items: [{ id: "${post}", scheduledAt: "2099-01-01T00:00:00Z" }] }) { results { error { code } } } }`,
  'Mutation.updateMediaAsset(input.folderId)': ofOwn('updateMediaAsset', 'asset', ({ folder }) => `folderId: "${folder}"`),
  'Mutation.updateMediaFolder(input.parentId)': ofOwn('updateMediaFolder', 'folder', ({ folder }) => `parentId: "${folder}"`),
  'Mutation.updateWorkflow(input.steps.workflowId)': ofOwn(
    'updateWorkflow',
    'workflow',
    ({ workflow }) => `steps: [{ key: "a", kind: RUN, workflowId: "${workflow}" }]`,
  ),
  'Mutation.updateWorkflow(input.steps.connectorId)': ofOwn(
    'updateWorkflow',
    'workflow',
    ({ workflow }) => `steps: [{ key: "a", kind: TOOL, connectorId: "${workflow}", tool: "x" }]`,
  ),
  'Mutation.updatePost(input.campaignId)': ofOwn('updatePost', 'post', campaign),
  'Mutation.updatePost(input.media.assetId)': ofOwn('updatePost', 'post', media),
  'Mutation.revokeSession(input.id)': ({ session }) => `mutation { revokeSession(input: { id: "${session}" }) { id } }`,
  'Mutation.sendEmail(input.identityId)': ({ identity }) =>
    `mutation { sendEmail(input: { identityId: "${identity}", to: ["ada@example.com"], subject: "x", text: "x" }) { id } }`,
  'Query.auditLog(userId)': ({ person }) => `{ auditLog(userId: "${person}") { nodes { id } } }`,
  'Query.paymentAuditLog(entityId)': ({ organization }) => `{ paymentAuditLog(entityId: "${organization}") { nodes { id } } }`,
  'Query.connections(brandId)': ({ brand }) => `{ connections(brandId: "${brand}") { nodes { id } } }`,
  'Query.mediaAssets(folderId)': ({ folder, own }) => `{ mediaAssets(brandId: "${own.brand}", folderId: "${folder}") { nodes { id } } }`,
  'Query.transactions(orderId)': ({ organization }) => `{ transactions(orderId: "${organization}") { nodes { id } } }`,
  'Query.invoices(customerId)': ({ organization }) => `{ invoices(customerId: "${organization}") { nodes { id } } }`,
  'Query.invoices(merchantId)': ({ organization }) => `{ invoices(merchantId: "${organization}") { nodes { id } } }`,
  'Query.creditNotes(invoiceId)': ({ organization }) => `{ creditNotes(invoiceId: "${organization}") { nodes { id } } }`,
  'Query.refunds(orderId)': ({ organization }) => `{ refunds(orderId: "${organization}") { nodes { id } } }`,
  'Query.paymentLinks(orderId)': ({ organization }) => `{ paymentLinks(orderId: "${organization}") { nodes { id } } }`,
  'Subscription.orderUpdated(merchantId)': ({ organization }) => `subscription { orderUpdated(merchantId: "${organization}") { id } }`,
  'Query.ledgerAccounts(merchantId)': ({ organization }) => `{ ledgerAccounts(merchantId: "${organization}") { nodes { code } } }`,
  'Query.ledgerEntries(orderId)': ({ organization }) => `{ ledgerEntries(orderId: "${organization}") { nodes { id } } }`,
  'Query.ledgerEntries(merchantId)': ({ organization }) => `{ ledgerEntries(merchantId: "${organization}") { nodes { id } } }`,
  'Query.ledgerEntries(settlementBatchId)': ({ organization }) => `{ ledgerEntries(settlementBatchId: "${organization}") { nodes { id } } }`,
  'Query.orders(customerId)': ({ organization }) => `{ orders(customerId: "${organization}") { nodes { id } } }`,
  'Query.paymentReport(merchantId)': ({ organization }) =>
    `{ paymentReport(from: "2027-01-01T00:00:00Z", to: "2027-02-01T00:00:00Z", groupBy: DAY, merchantId: "${organization}") { rows { key } } }`,
  'Query.venues(merchantId)': ({ organization }) => `{ venues(merchantId: "${organization}") { nodes { id } } }`,
  'Query.orders(merchantId)': ({ organization }) => `{ orders(merchantId: "${organization}") { nodes { id } } }`,
  'Query.personProfiles(subjectId)': ({ person }) => `{ personProfiles(subjectId: "${person}") { nodes { id } } }`,
  'Query.providerCalls(userId)': ({ person }) => `{ providerCalls(userId: "${person}") { nodes { id } } }`,
  'Query.postChecks(input.campaignId)': checked(campaign),
  'Query.postChecks(input.media.assetId)': checked(media),
  'Query.postChecks(input.overrides.media.assetId)': checked(overrides),
  'Query.runs(workflowId)': ({ workflow }) => `{ runs(workflowId: "${workflow}") { nodes { id } } }`,
  'Query.posts(campaignId)': ({ campaign: id }) => `{ posts(campaignId: "${id}") { nodes { id } } }`,
  'Query.posts(groupId)': ({ group }) => `{ posts(groupId: "${group}") { nodes { id } } }`,
  'Query.posts(authorId)': ({ person }) => `{ posts(authorId: "${person}") { nodes { id } } }`,
  'Query.posts(brandId)': ({ brand }) => `{ posts(brandId: "${brand}") { nodes { id } } }`,
  'Query.posts(threadId)': ({ thread }) => `{ posts(threadId: "${thread}") { nodes { id } } }`,
  'Subscription.postStatusChanged(threadId)': ({ thread, own }) => `subscription { postStatusChanged(brandId: "${own.brand}", threadId: "${thread}") { id } }`,
}

test('S-07 whatever takes an id is tried with one of another organization: by the matrix, or below, or says why it takes any', () => {
  const tried = triedPlaces()
  const hidden = placesOfIds(schema).filter(place => ['hidden', 'empty', 'nothing'].includes(tried.get(place) ?? ''))
  expect([...hidden, ...Object.keys(tries), ...Object.keys(elsewhere)].sort()).toEqual(placesOfIds(schema))
})

test('S-07 every route with an id in its path is hidden from another organization', () => {
  // Callers that are neither platform admins nor services are refused there whatever id they send.
  const ofThePlatform =
    /\/(?:providers\/api\/(?:service-clients|payments)|publishing\/api\/internal)\/|settlement-batches\/:id\/reversal$|\/domains\/:id\/suspend$|\/leads\/:id$/
  // Refused in every organization, whatever id is sent; household.test.ts tries strangers in personal context.
  const ofPersons = /^[A-Z]+ \/launcher\/api\/households\//
  // These routes need no sign-in: `:code`, `:token`, the code of a launch and a browser’s `:subjectId` are the credential, and media are served by a signed address.
  const opened =
    /^GET \/publishing\/(?:data-deletion\/:code|calendar\/:token\.ics|media\/:id\/:variant)$|^GET \/payments\/pay\/:token(?:\/return)?$|^POST \/agents\/api\/hooks\/:code$|^GET \/launcher\/api\/consent\/:subjectId$|^GET \/launcher\/launch\/:serviceId$/
  const named = /:(?:slug|platform|name|capability|app)\b/
  const routes = routeTables
    .flatMap(({ slug, rows }) => rows.map(({ method, path }) => `${method} /${slug}${path}`))
    .filter(route => /:/.test(route.replace(named, '')) && !ofThePlatform.test(route) && !ofPersons.test(route) && !opened.test(route))
  expect(routes.filter(route => routeRows.find(({ at }) => at === route)?.cells.split(/\s+/)[columns.indexOf('outsider')] !== 'hidden')).toEqual([])
})

describe('S-07 another organization’s id is answered like an unknown one:', () => {
  let graph: Supergraph
  let outsider: Viewer
  let foreign: Foreign
  beforeAll(async () => {
    graph = await supergraph()
    const world = await graph.seed.owner().brand().post().outsider()
    outsider = world.outsider
    const { owner, brand, post, elsewhere: other } = world
    const profile = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
    const own = await seedProfile(graph, { organizationId: other.id, subjectId: outsider.userId! })
    await graph.rows('insert into identity.sessions (id, expires_at, token, created_at, updated_at, user_id) values ($1, $2, $3, $4, $4, $5)', [
      owner.sessionId,
      graph.clock.in(3_600_000),
      newId(),
      graph.clock.in(0),
      owner.userId,
    ])
    const group = newId()
    const { id: ownBrand } = await seedBrand(graph, { organizationId: other.id })
    const inGroup = await seedPost(graph, { brandId: brand.id, owner }, { row: { groupId: group } })
    foreign = {
      person: owner.userId!,
      organization: owner.organizationId!,
      brand: brand.id,
      thread: post.threadId,
      post: inGroup.id,
      group,
      campaign: (await seedCampaign(graph, { brandId: brand.id })).id,
      asset: (await seedAsset(graph, { brandId: brand.id })).id,
      folder: (await seedFolder(graph, { brandId: brand.id })).id,
      profile: profile.id,
      source: profile.sourceId,
      snapshot: profile.snapshotId,
      authorization: profile.authorizationId,
      session: owner.sessionId!,
      workflow: (await seedWorkflow(graph, { organizationId: owner.organizationId! })).id,
      agent: await seedAgent(graph, { organizationId: owner.organizationId! }),
      knowledge: (await seedKnowledge(graph, { organizationId: owner.organizationId! })).id,
      connector: await seedConnector(graph, owner.organizationId!),
      item: (await seedAttention(graph, { organizationId: owner.organizationId! })).id,
      identity: (await seedIdentity(graph, await seedDomain(graph, { organizationId: owner.organizationId!, domain: 'acme.example' }))).id,
      file: (await seedFile(graph, await seedDispute(graph, { organizationId: owner.organizationId! }))).id,
      own: {
        dispute: (await seedDispute(graph, { organizationId: other.id })).id,
        brand: ownBrand,
        profile: own.id,
        snapshot: own.snapshotId,
        authorization: own.authorizationId,
        source: own.sourceId,
        post: (await seedPost(graph, { brandId: ownBrand, owner: outsider })).id,
        asset: (await seedAsset(graph, { brandId: ownBrand })).id,
        folder: (await seedFolder(graph, { brandId: ownBrand })).id,
        workflow: (await seedWorkflow(graph, { organizationId: other.id })).id,
        agent: await seedAgent(graph, { organizationId: other.id }),
      },
    }
  })
  afterAll(() => graph[Symbol.asyncDispose]())

  /** What is seen of it: a code, how many entries, or that it goes on. */
  const seen = async (ask: Try, of: Foreign) => {
    const text = ask(of)
    const answer = await (text.startsWith('subscription') ? graph.trySubscription : graph.execute)(text, {}, { as: outsider })
    if ('end' in answer) return answer.end().then(() => 'a stream')
    const [root] = Object.values(answer.partial.data ?? {})
    // A batch has an answer for each item.
    if (root?.results) return root.results.map(({ error }: { error: { code: string } | null }) => error?.code ?? 'done').join()
    return answer.code ?? (root?.nodes ? `${root.nodes.length} entries` : root === null ? 'null' : 'something')
  }

  test.each(Object.entries(tries))('%s', async (_, ask) => {
    const nobodys = {
      person: newId(),
      organization: newId(),
      brand: newId(),
      thread: newId(),
      post: newId(),
      group: newId(),
      campaign: newId(),
      asset: newId(),
      folder: newId(),
      profile: newId(),
      source: newId(),
      snapshot: newId(),
      authorization: newId(),
      session: newId(),
      identity: newId(),
      workflow: newId(),
      agent: newId(),
      file: newId(),
      knowledge: newId(),
      connector: newId(),
      item: newId(),
      own: foreign.own,
    }
    const answered = await seen(ask, foreign)
    expect(answered).toBe(await seen(ask, nobodys))
    expect(answered).toMatch(/^(?:NOT_FOUND|BAD_USER_INPUT|0 entries|null|a stream)$/)
  })

  test('a member of another organization as approver', async () => {
    const shown = async (id: string) => {
      const text = `mutation { updateBrand(input: { id: "${foreign.own.brand}", approverIds: ["${id}"] }) { approvers { id name email } } }`
      const { data, errors } = (await graph.execute(text, {}, { as: outsider })).partial
      const codes = errors.map(({ path, extensions }) => [path, extensions.code])
      return JSON.stringify({ data, codes }).replaceAll(id, 'them')
    }
    const answered = await shown(foreign.person)
    expect(answered).toBe(await shown(newId()))
    expect(answered).toContain('BAD_USER_INPUT')
  })
})
