import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, change, type FieldRow, type RouteRow, row } from '../../../access/row.ts'

const invoke: readonly Scope[] = ['providers:ai.invoke']
const usage: readonly Scope[] = ['providers:usage.read']

/** Whoever is let in is told that there is no such model, or nothing under this name: what is answered else is tried in the tests of each. */
const invokers = 'refused hidden refused refused hidden hidden hidden'
const model = 'none/such'

const route = (at: string, path: string): RouteRow => ({ at, scopes: invoke, less: usage, cells: invokers, path: () => path })
const field = (at: string, name: string, input: string, selection = 'callId', path = name): FieldRow =>
  row(
    at,
    invoke,
    usage,
    invokers,
    change(name, ({ sandbox }) => `model: "${model}", ${input.replace('SANDBOX', sandbox ?? '')}`, selection),
    path,
  )

const part = (name: string, value: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const form = `${part('model', model)}${part('file"; filename="a.wav', 'sound')}--b--\r\n`
const recording = { body: () => Buffer.from(form), headers: { 'content-type': 'multipart/form-data; boundary=b' } }

const messages = 'messages: [{ role: USER, content: "One" }]'

export const access: AccessRows = {
  made: async ({ graph }) => ({ sandbox: graph.x.origin }),
  fields: [
    field('Mutation.createImages', 'createImages', 'prompt: "A house"'),
    field('ImageGeneration.images', 'createImages', 'prompt: "A house"', 'images { base64 }', 'createImages.images'),
    field('Mutation.createEmbeddings', 'createEmbeddings', 'texts: ["One"]'),
    field('Mutation.createTranscription', 'createTranscription', 'audioUrl: "SANDBOX/"'),
    field('Mutation.createCompletion', 'createCompletion', messages),
    field('Completion.toolCalls', 'createCompletion', messages, 'toolCalls { id }', 'createCompletion.toolCalls'),
  ],
  routes: [
    route('* /providers/api/ai/*', '/providers/api/ai/none-such'),
    route('GET /providers/api/ai/models/:name', '/providers/api/ai/models/none-such'),
    { ...route('POST /providers/api/ai/transcriptions', '/providers/api/ai/transcriptions'), ...recording },
    { ...route('POST /providers/api/ai/audio/transcriptions', '/providers/api/ai/audio/transcriptions'), ...recording },
  ],
}
