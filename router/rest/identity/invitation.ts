import type { Documented } from '../row.ts'

const text = { type: 'string' }

/** Routes by which a person without an account accepts an invitation. */
export const invitationAnswers: readonly Documented[] = [
  {
    name: 'acceptInvitation',
    at: 'POST /accept-invitation',
    does: 'Makes the account of an invited address with the code of the mail, its membership, and a session there. What is refused leaves the code good; 409 (reason `ACCOUNT`) for an address that has an account: sign in, and accept there.',
    body: {
      schema: {
        type: 'object',
        properties: {
          code: { ...text, description: 'The code of the link in the mail.' },
          name: { ...text, maxLength: 120 },
          password: { ...text, format: 'password', minLength: 12, maxLength: 256 },
        },
        required: ['code', 'name', 'password'],
      },
    },
    refuses: [403, 409, 429],
    answers: {
      200: {
        description: 'The person is a member, and signed in.',
        schema: {
          type: 'object',
          properties: {
            accessToken: { ...text, description: 'A signed JWT, to be sent as `Authorization: Bearer`.' },
            expiresAt: { ...text, format: 'date-time', description: 'From then on it is refused.' },
            user: { type: 'object', properties: { id: text, email: text, name: text }, required: ['id', 'email', 'name'] },
          },
          required: ['accessToken', 'expiresAt', 'user'],
        },
      },
    },
  },
]
