import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

const operations = nounRoutes({
  select: {
    SenderDomain: 'id domain kind level organizationId: organization { id } status records { purpose type host value status } lastCheckedAt version',
    SenderIdentity: 'id domainId: domain { id } address displayName replyTo isDefault level version',
    EmailMessage: 'id from to cc subject status failure { code message } attempts createdAt sentAt providerMessageId',
    EmailSuppression: 'id address reason createdAt',
  },
  routes: {
    'GET /api/email/domains': 'senderDomains',
    'POST /api/email/domains': { run: 'addSenderDomain', status: 201 },
    'GET /api/email/domains/:id': 'senderDomain',
    'POST /api/email/domains/:id/verify': 'verifySenderDomain',
    'POST /api/email/domains/:id/suspend': { run: 'suspendSenderDomain', mayBeEmpty: true },
    'DELETE /api/email/domains/:id': 'removeSenderDomain',
    'GET /api/email/identities': 'senderIdentities',
    'POST /api/email/identities': 'createSenderIdentity',
    'PUT /api/email/identities/:id': 'updateSenderIdentity',
    'DELETE /api/email/identities/:id': 'deleteSenderIdentity',
    'GET /api/email/messages': 'emailMessages',
    'POST /api/email/messages': { run: 'sendEmail', status: 201 },
    'GET /api/email/messages/:id': 'emailMessage',
    'GET /api/email/suppressions': 'emailSuppressions',
    'POST /api/email/suppressions': { run: 'addEmailSuppression', status: 201 },
    'DELETE /api/email/suppressions/:id': 'removeEmailSuppression',
  },
})

const text = { type: 'string' } as const

const eventRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/email/events',
    access: { public: 'The mail provider reports deliveries here; its signature authenticates it.' },
    limit: 64 * 1024,
    to: 'providers',
    why: 'raw body',
    describes: [
      {
        name: 'reportEmailEvent',
        does: 'Receives a delivery report, signed by Standard Webhooks. A repeated report has no effect. 401 for a signature that is none of ours, or older than five minutes.',
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

export const emailRows: readonly Row[] = [...operations, ...eventRows]
