import type { Content, Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const text = { type: 'string' } as const
const whole = { type: 'integer' } as const
const any = { type: 'object', additionalProperties: true } as const
const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
})
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

const model = {
  ...text,
  description: 'A name such as `openai/gpt-5-mini`, or its last part where only one has it. Without it, or as `default`: the preference of the organization.',
}
const usage = object({ prompt_tokens: whole, completion_tokens: whole, total_tokens: whole })

const completion: Pick<Documented, 'body' | 'answers' | 'refuses'> = {
  body: {
    schema: object(
      {
        model,
        messages: list(any),
        stream: { type: 'boolean', description: 'Answers as server-sent events, a chunk each; `[DONE]` is the last.' },
        stream_options: object({ include_usage: { type: 'boolean' } }, []),
        max_completion_tokens: whole,
        temperature: { type: 'number' },
        top_p: { type: 'number' },
        stop: { anyOf: [text, list(text)] },
        seed: whole,
        tools: list(any),
        tool_choice: {},
        parallel_tool_calls: { type: 'boolean' },
        response_format: any,
        user: text,
        metadata: any,
      },
      ['messages'],
    ),
  },
  refuses: [404, 429],
  answers: {
    200: {
      description: 'What OpenAI’s API answers as `chat.completion`; with `stream`, `text/event-stream` of `chat.completion.chunk`.',
      schema: object({ id: text, object: text, created: whole, model: text, choices: list(any), usage }),
    },
  },
}
const transcription: Pick<Documented, 'body' | 'answers' | 'refuses'> = {
  body: {
    type: 'multipart/form-data',
    schema: object(
      {
        file: { type: 'string', format: 'binary' },
        model,
        language: text,
        prompt: text,
        response_format: { type: 'string', enum: ['json', 'text', 'verbose_json'] },
      },
      ['file'],
    ),
  },
  refuses: [404, 429],
  answers: { 200: { description: 'The transcript; plain text if requested.', schema: object({ text }) } },
}
const image: Pick<Documented, 'body' | 'answers' | 'refuses'> = {
  body: {
    schema: object({ prompt: text, model, n: { type: 'integer', minimum: 1, maximum: 4 }, size: text, quality: text, background: text, output_format: text }, [
      'prompt',
    ]),
  },
  refuses: [404, 429],
  answers: {
    200: { description: 'The images, in base64.', schema: object({ created: whole, data: list(object({ b64_json: text })), usage: any }, ['created', 'data']) },
  },
}
const embedding: Pick<Documented, 'body' | 'answers' | 'refuses'> = {
  body: { schema: object({ input: { anyOf: [text, list(text)] }, model }, ['input']) },
  refuses: [404, 429],
  answers: { 200: { description: 'An embedding for each text.', schema: object({ object: text, model: text, data: list(any), usage: any }) } },
}
const aModel: Content['schema'] = object({ id: text, object: text, created: whole, owned_by: text })

/**
 * Options that all routes of the AI interface share: callers with the scope, keys also as bearer tokens, and errors in
 * OpenAI's format.
 */
const wire = {
  kind: 'forward',
  access: { scope: 'providers:ai.invoke' },
  to: 'providers',
  why: 'stream',
  problems: 'openai',
  bearerKeys: true,
  // The timeout of one attempt, and of the work before it.
  timeoutMs: 620_000,
} as const satisfies Partial<ForwardRow>

const [mostJson, mostForm] = [10 * 1024 * 1024, 26 * 1024 * 1024]

export const aiRows: readonly Row[] = [
  {
    ...wire,
    method: '*',
    path: '/api/ai/*',
    limit: mostJson,
    studioAt: ['/completions', '/chat/completions'],
    describes: [
      {
        name: 'complete',
        at: 'POST /completions',
        does: 'Generates the next message of a conversation. Body and answer have the form of OpenAI’s chat completions.',
        ...completion,
      },
      {
        name: 'createChatCompletion',
        at: 'POST /chat/completions',
        does: 'The same operation at the path that OpenAI’s clients use below a base address.',
        ...completion,
      },
      { name: 'drawImages', at: 'POST /images', does: 'Generates one to four images from a description.', ...image },
      { name: 'createImageGeneration', at: 'POST /images/generations', does: 'The same operation at the path that OpenAI’s clients use.', ...image },
      { name: 'createEmbedding', at: 'POST /embeddings', does: 'Creates an embedding of each text.', ...embedding },
      {
        name: 'listModels',
        at: 'GET /models',
        does: 'Lists the models that the organization may use; optionally the configured ones only.',
        answers: { 200: { description: 'The models.', schema: object({ object: text, data: list(aModel) }) } },
      },
    ],
  },
  {
    ...wire,
    method: 'GET',
    path: '/api/ai/models/:name',
    limit: 0,
    describes: [
      {
        name: 'readModel',
        does: 'Returns one model that the organization may use.',
        params: { name: 'Its name; a slash in it as `%2F`.' },
        refuses: [404],
        answers: { 200: { description: 'The model.', schema: aModel } },
      },
    ],
  },
  ...(
    [
      ['/api/ai/transcriptions', 'transcribe', 'Transcribes a recording of at most 25 MB.'],
      ['/api/ai/audio/transcriptions', 'createAudioTranscription', 'The same operation at the path that OpenAI’s clients use.'],
    ] as const
  ).map(([path, name, does]): Row => ({ ...wire, method: 'POST', path, limit: mostForm, describes: [{ name, does, ...transcription }] })),
]
