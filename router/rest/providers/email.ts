import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type AddEmailSuppressionInput,
  type AddSenderDomainInput,
  type CreateSenderIdentityInput,
  RestAddEmailSuppressionDocument,
  RestAddSenderDomainDocument,
  RestCreateSenderIdentityDocument,
  RestDeleteSenderIdentityDocument,
  RestEmailMessageDocument,
  type RestEmailMessageQuery,
  RestEmailMessagesDocument,
  type RestEmailMessagesQueryVariables,
  RestEmailSuppressionsDocument,
  RestRemoveEmailSuppressionDocument,
  RestRemoveSenderDomainDocument,
  RestSendEmailDocument,
  RestSenderDomainDocument,
  type RestSenderDomainQuery,
  RestSenderDomainsDocument,
  RestSenderIdentitiesDocument,
  type RestSenderIdentitiesQuery,
  RestSuspendSenderDomainDocument,
  RestUpdateSenderIdentityDocument,
  RestVerifySenderDomainDocument,
  type SendEmailInput,
  type SuspendSenderDomainInput,
  type UpdateSenderIdentityInput,
} from './email.generated.ts'

type GraphDomain = NonNullable<RestSenderDomainQuery['senderDomain']>
type GraphIdentity = NonNullable<NonNullable<RestSenderIdentitiesQuery['senderIdentities']>[number]>
type GraphMessage = NonNullable<RestEmailMessageQuery['emailMessage']>

const base = '/providers/api/email'

const domainToRest = ({ organization, ...domain }: GraphDomain) => ({
  ...domain,
  kind: fromEnum(domain.kind),
  level: fromEnum(domain.level),
  status: fromEnum(domain.status),
  records: domain.records.map(record => ({ ...record, purpose: fromEnum(record.purpose), status: fromEnum(record.status) })),
  organizationId: organization?.id ?? null,
})

const identityToRest = ({ domain, ...identity }: GraphIdentity) => ({ ...identity, level: fromEnum(identity.level), domainId: domain?.id ?? null })

const messageToRest = (message: GraphMessage) => ({ ...message, status: fromEnum(message.status) })

/** One record with its version as entity tag, which `If-Match` takes back. */
const one = <Node extends { readonly version: number }>(node: Node | null | undefined, toRest: (node: Node) => object): RowReply | null =>
  node ? { headers: { etag: tagOfVersion(node.version) }, body: toRest(node) } : null

/** The answer to what was made. */
const made = (reply: RowReply | null, location: string | null): RowReply | null =>
  reply && { ...reply, status: 201, headers: { ...reply.headers, ...(location && { location }) } }

/** A list that is no page. */
const whole = <Node, Shown>(name: string, nodes: readonly (Node | null)[], toRest: (node: Node) => Shown) => {
  return { [name]: nodes.flatMap(node => (node ? [toRest(node)] : [])) }
}

const domainRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/email/domains',
    operation: RestSenderDomainsDocument,
    variables: () => ({}),
    reply: ({ senderDomains }) => senderDomains && { body: whole('domains', senderDomains, domainToRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/email/domains',
    operation: RestAddSenderDomainDocument,
    body: ['domain', 'kind', 'level'],
    variables: ({ body, idempotencyKey }) => ({
      input: { ...body, kind: toEnum(body.kind), level: toEnum(body.level), idempotencyKey } as AddSenderDomainInput,
    }),
    reply: ({ addSenderDomain }) => made(one(addSenderDomain, domainToRest), `${base}/domains/${addSenderDomain?.id}`),
  }),
  operationRow({
    method: 'GET',
    path: '/api/email/domains/:id',
    operation: RestSenderDomainDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ senderDomain }) => one(senderDomain, domainToRest),
  }),
  operationRow({
    method: 'POST',
    path: '/api/email/domains/:id/verify',
    operation: RestVerifySenderDomainDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ verifySenderDomain }) => one(verifySenderDomain, domainToRest),
  }),
  operationRow({
    method: 'POST',
    path: '/api/email/domains/:id/suspend',
    operation: RestSuspendSenderDomainDocument,
    body: ['suspended'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as SuspendSenderDomainInput }),
    reply: ({ suspendSenderDomain }) => one(suspendSenderDomain, domainToRest),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/email/domains/:id',
    operation: RestRemoveSenderDomainDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ removeSenderDomain }) => removeSenderDomain && { status: 204 },
  }),
]

const identityRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/email/identities',
    operation: RestSenderIdentitiesDocument,
    variables: () => ({}),
    reply: ({ senderIdentities }) => senderIdentities && { body: whole('identities', senderIdentities, identityToRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/email/identities',
    operation: RestCreateSenderIdentityDocument,
    body: ['domainId', 'localPart', 'displayName', 'replyTo', 'isDefault'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as CreateSenderIdentityInput }),
    reply: ({ createSenderIdentity }) => made(one(createSenderIdentity, identityToRest), null),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/email/identities/:id',
    operation: RestUpdateSenderIdentityDocument,
    body: ['displayName', 'replyTo', 'isDefault'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as UpdateSenderIdentityInput }),
    reply: ({ updateSenderIdentity }) => one(updateSenderIdentity, identityToRest),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/email/identities/:id',
    operation: RestDeleteSenderIdentityDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteSenderIdentity }) => deleteSenderIdentity && { status: 204 },
  }),
]

const messageRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/email/messages',
    operation: RestEmailMessagesDocument,
    query: ['status', 'first', 'after'],
    variables: ({ query }) => ({ ...query, status: toEnum(query.status), first: toInteger(query.first) }) as RestEmailMessagesQueryVariables,
    reply: ({ emailMessages }) => emailMessages && { body: listBody('messages', emailMessages, messageToRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/email/messages',
    operation: RestSendEmailDocument,
    body: ['identityId', 'to', 'cc', 'bcc', 'replyTo', 'subject', 'text', 'html', 'headers', 'attachments'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as SendEmailInput }),
    reply: ({ sendEmail }) => sendEmail && { status: 201, headers: { location: `${base}/messages/${sendEmail.id}` }, body: messageToRest(sendEmail) },
  }),
  operationRow({
    method: 'GET',
    path: '/api/email/messages/:id',
    operation: RestEmailMessageDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ emailMessage }) => emailMessage && { body: messageToRest(emailMessage) },
  }),
]

const suppressionRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/email/suppressions',
    operation: RestEmailSuppressionsDocument,
    query: ['first', 'after'],
    variables: ({ query }) => ({ ...query, first: toInteger(query.first) }) as { first?: number; after?: string },
    reply: ({ emailSuppressions }) => emailSuppressions && { body: listBody('suppressions', emailSuppressions, suppression => suppression) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/email/suppressions',
    operation: RestAddEmailSuppressionDocument,
    body: ['address', 'reason'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as AddEmailSuppressionInput }),
    reply: ({ addEmailSuppression }) => addEmailSuppression && { status: 201, body: addEmailSuppression },
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/email/suppressions/:id',
    operation: RestRemoveEmailSuppressionDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ removeEmailSuppression }) => removeEmailSuppression && { status: 204 },
  }),
]

const text = { type: 'string' } as const

const eventRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/email/events',
    access: { public: 'Whoever delivers our mail reports here what became of it; the signature says that it is they.' },
    limit: 64 * 1024,
    to: 'providers',
    why: 'raw body',
    tells: [
      {
        name: 'reportEmailEvent',
        does: 'Takes a report of what became of a mail, signed as Standard Webhooks has it. The same report twice acts once. 401 for a signature that is none of ours, or older than five minutes.',
        body: {
          schema: {
            type: 'object',
            properties: {
              type: { enum: ['bounce', 'complaint', 'delivered'] },
              messageId: { ...text, description: 'The Message-ID of the mail.' },
              recipient: text,
              reason: text,
              at: { ...text, format: 'date-time' },
            },
            required: ['type', 'messageId', 'recipient'],
          },
        },
        refuses: [401],
        answers: { 204: 'It was heard.' },
      },
    ],
  },
]

export const emailRows: readonly Row[] = [...domainRows, ...identityRows, ...messageRows, ...suppressionRows, ...eventRows]
