import type { Row } from '../row.ts'

const text = { type: 'string' } as const

export const policyRows: readonly Row[] = [
  {
    ...{ kind: 'forward', method: 'POST', path: '/api/policy/decisions', limit: 64 * 1024, to: 'agents', why: 'raw body' },
    access: { public: 'The settlement and policy service sends its decisions here; its signature authenticates it.' },
    describes: [
      {
        name: 'tellPolicyDecision',
        does: 'Takes a decision on an action that crosses organizations, signed as Standard Webhooks has it. The same decision twice acts once. 401 for a signature that is none of ours, or older than five minutes; 409 for another decision after a final one, and for any after the end.',
        body: {
          schema: {
            type: 'object',
            properties: {
              type: { enum: ['policy.decided'] },
              timestamp: { ...text, format: 'date-time' },
              data: {
                type: 'object',
                properties: {
                  id: { ...text, description: 'The id of the request.' },
                  decision: { enum: ['allow', 'deny', 'hold'] },
                  actionHash: { ...text, description: 'Action that the decision is about. A permission for another action is not valid.' },
                  reason: text,
                  policyVersion: text,
                },
                required: ['id', 'decision'],
              },
            },
            required: ['type', 'data'],
          },
        },
        refuses: [401, 404, 409],
        answers: { 204: 'It was heard.' },
      },
    ],
  },
]
