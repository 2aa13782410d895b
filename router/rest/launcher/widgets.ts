import type { Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const text = { type: 'string' } as const
const maybe = { type: ['string', 'null'] } as const
const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const list = (items: JsonSchema) => ({ type: 'array', items })

const payload = {
  ...object({
    statistics: list(object({ key: text, label: text, value: { type: 'integer' } })),
    items: list(object({ id: text, title: text, at: maybe, url: maybe })),
    nextAction: { ...object({ label: text, url: text }), type: ['object', 'null'] },
    chart: { ...object({ title: text, points: list(object({ label: text, value: { type: 'number' } })) }), type: ['object', 'null'] },
  }),
  type: ['object', 'null'],
} as const
const widget = object({
  ...{ id: text, app: text, title: text, icon: maybe, audience: { enum: ['user', 'organization'] }, state: { enum: ['fresh', 'stale', 'overview'] } },
  ...{ readAt: maybe, ageSeconds: { type: ['integer', 'null'] }, failure: { ...object({ code: text, message: text }), type: ['object', 'null'] }, payload },
  overview: { ...object({ summary: maybe, category: maybe, publisher: maybe }), type: ['object', 'null'] },
})

const batch: Documented = {
  name: 'readWidgets',
  does: 'Reads the widgets of the active context in one batch. An app that does not answer within three seconds costs its own widget only.',
  body: { schema: object({ context: { enum: ['personal', 'organization'] }, apps: list(text) }, []) },
  refuses: [409],
  answers: { 200: { description: 'The widgets, by title.', schema: object({ context: text, widgets: list(widget) }) } },
}
const keys: Documented = {
  name: 'readWidgetKeys',
  does: 'The public keys of the tokens that tell apps for whom their widgets are read.',
  answers: { 200: { description: 'A set of JSON Web Keys.', schema: object({ keys: list({ type: 'object' }) }) } },
}

const changed: Documented = {
  name: 'announceWidgetChange',
  does: 'Reports that an app’s widget has changed: for an organization, a person, or a person in an organization. Each token works once.',
  body: { schema: object({ organizationId: text, userId: text }, []) },
  reads: ['bearer'],
  refuses: [401],
  answers: { 202: 'The widget is read again.' },
}

const own = { kind: 'forward', to: 'launcher', why: 'own answer' } as const satisfies Partial<ForwardRow>

export const widgetRows: readonly Row[] = [
  { ...own, method: 'POST', path: '/api/widgets', limit: 16 * 1024, access: { scope: 'launcher:widgets.read' }, describes: [batch] },
  {
    ...{ ...own, method: 'POST', path: '/api/widgets/changed', limit: 16 * 1024, describes: [changed] },
    access: { public: 'The token in the header is signed by the app.' },
  },
  {
    ...{ ...own, method: 'GET', path: '/api/widgets/keys', limit: 0, describes: [keys] },
    access: { public: 'Apps check tokens by these keys.' },
  },
]
