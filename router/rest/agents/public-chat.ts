import { nounRoutes } from '../derive/route.ts'
import type { Documented, ForwardRow, Row } from '../row.ts'

const text = { type: 'string' } as const
const truth = { type: 'boolean' } as const
const object = (properties: Readonly<Record<string, object>>) => ({ type: 'object', properties })
const list = (items: object) => ({ type: 'array', items })

const row = {
  kind: 'forward',
  access: { public: 'Visitors of any page send messages here; a solved challenge, or the clearance it gave, admits them.' },
  limit: 64 * 1024,
  to: 'agents',
  why: 'own answer',
} as const satisfies Partial<ForwardRow>

const site = { site: 'Slug of the organization. Default: the configured one.' }

const challenge: Documented = {
  name: 'createChatChallenge',
  does: 'Creates a challenge that a visitor solves before the first message. 429 above 60 a minute from one address.',
  query: site,
  refuses: [404, 429],
  answers: {
    200: { description: 'The challenge, as ALTCHA’s widget reads it.', schema: object({ provider: text, parameters: { type: 'object' }, signature: text }) },
  },
}
const personas: Documented = {
  name: 'listChatPersonas',
  does: 'Lists the personas that answer visitors of a site.',
  query: site,
  refuses: [404],
  answers: {
    200: { description: 'The personas.', schema: object({ personas: list(object({ slug: text, name: text, greeting: text, default: truth })) }) },
  },
}
const chat: Documented = {
  name: 'sendChatMessage',
  does: 'Answers a visitor from public sources. A solution begins a session, its clearance goes on with it. With `Accept: text/event-stream` the answer comes as the events meta, delta and done.',
  body: { schema: object({ site: text, persona: text, message: text, solution: text, clearance: text }) },
  refuses: [403, 404, 429],
  answers: {
    200: {
      description: 'The answer, with its sources.',
      schema: object({
        session: object({ id: text, clearance: text, expiresAt: text, turnsLeft: { type: 'integer' } }),
        persona: object({ slug: text, name: text }),
        message: object({ id: text, text, mode: { enum: ['model', 'extractive'] }, notice: { type: ['string', 'null'] }, flagged: truth }),
        sources: list(object({ title: text, url: text, quote: text, documentId: text })),
        actions: list(object({ kind: text, label: text, url: text, iosUrl: { type: ['string', 'null'] }, androidUrl: { type: ['string', 'null'] } })),
      }),
    },
  },
}
const feedback: Documented = {
  name: 'judgeChatAnswer',
  does: 'Records a visitor’s feedback on an answer.',
  body: { schema: object({ clearance: text, messageId: text, helpful: truth, comment: text }) },
  refuses: [403, 404, 429],
  answers: { 204: 'The feedback was recorded.' },
}

const visitors: readonly Row[] = [
  { ...row, method: 'GET', path: '/api/public/chat/challenge', describes: [challenge] },
  { ...row, method: 'GET', path: '/api/public/chat/personas', describes: [personas] },
  { ...row, method: 'POST', path: '/api/public/chat', why: 'stream', timeoutMs: 130_000, describes: [chat] },
  { ...row, method: 'POST', path: '/api/public/chat/feedback', describes: [feedback] },
]

const sessions = nounRoutes({
  select: {
    ChatSession: `
      id persona startedAt lastTurnAt
      turns { id role text mode sources { title url quote documentId } flagged helpful comment at }`,
  },
  routes: { 'GET /api/chat-sessions': 'chatSessions', 'GET /api/chat-sessions/:id': 'chatSession' },
})

export const publicChatRows: readonly Row[] = [...visitors, ...sessions]
