import { spoilt } from '../faults.ts'
import type { ArmedFault, Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'
import { openaiModels, type PlayedModel } from './catalogue.ts'
import { type Asked, type InOrder, isReply } from './openai-asked.ts'
import { chat } from './openai-chat.ts'
import { embeddings, images, transcriptions } from './openai-media.ts'
import { byFault, refuse } from './openai-problems.ts'
import { type Body, isGoodKey, isObject, newId, openStall, type Stall } from './taken.ts'

interface Route {
  readonly reads?: 'form'
  prepare(asked: Asked): InOrder | Reply
}

/** The part of OpenAI's API that is played: https://platform.openai.com/docs/api-reference */
const routes: Readonly<Record<string, Route>> = {
  '/v1/chat/completions': { prepare: chat },
  '/v1/audio/transcriptions': { reads: 'form', prepare: transcriptions },
  '/v1/images/generations': { prepare: images },
  '/v1/embeddings': { prepare: embeddings },
}

/** Stand-in for OpenAI: models answer with an echo of the prompt. */
export const openai: Vendor = {
  title: 'OpenAI',
  play(name, deps): Network {
    const stall = openStall(name, deps)
    return {
      name,
      // A file of 25 MB and the form fields around it.
      takes: { mostBytes: 33 * 1024 * 1024 },
      received: () => [...stall.calls.values()],
      async answer(call) {
        const reply = await answerTo(stall, call)
        const headers = { 'x-request-id': newId('req_'), 'openai-version': '2020-10-01', 'openai-organization': 'org-sandbox' }
        return { ...reply, headers: { ...headers, ...reply.headers } }
      },
    }
  },
}

async function answerTo(stall: Stall, call: Call): Promise<Reply> {
  const route = Object.hasOwn(routes, call.path) ? routes[call.path] : undefined
  const reads = call.method === 'GET' && /^\/v1\/models(?:\/[^/]+)?$/.test(call.path)
  if (!reads && !(route && call.method === 'POST')) return refuse(404, `Invalid URL (${call.method} ${call.path})`, { type: 'invalid_request_error' })
  const [, key = ''] = /^Bearer (\S+)$/i.exec(call.headers.authorization ?? '') ?? []
  if (key === '') return refuse(401, "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.")
  if (!isGoodKey(key)) return refuse(401, `Incorrect API key provided: ${key.slice(0, 3)}***. Find yours in the settings.`, { code: 'invalid_api_key' })
  if (!route) return models(stall.deps, call.path.split('/')[3])
  const body = await (route.reads === 'form' ? readForm(call) : readJson(call))
  if (isReply(body)) return body
  const ready = route.prepare({ stall, call, key, body: body.body })
  if (isReply(ready)) return ready
  const spoil = (fault: ArmedFault & { readonly status: number }) => byFault(fault, String(body.body.model))
  return spoilt(stall.deps.faults, stall.name, { refuse: spoil, take: ready.take, endless: ready.endless })
}

function models({ clock }: Deps, id: string | undefined): Reply {
  const shown = (model: PlayedModel) => ({
    id: model.id,
    object: 'model',
    created: Math.min(Date.parse(model.released), clock.now().getTime()) / 1000,
    owned_by: 'system',
  })
  if (id === undefined) return json(200, { object: 'list', data: openaiModels.map(shown) }, 'read')
  const found = openaiModels.find(model => model.id === decodeURIComponent(id))
  return found ? json(200, shown(found), 'read') : refuse(404, `The model '${id}' does not exist`, { param: 'model', code: 'model_not_found' })
}

function readJson(call: Call): { readonly body: Body } | Reply {
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? ''))
    return refuse(400, `Unsupported content type: '${call.headers['content-type'] ?? ''}'. This API method only accepts 'application/json' requests.`)
  try {
    const body: unknown = JSON.parse(textOf(call))
    if (isObject(body)) return { body }
  } catch {}
  return refuse(400, 'We could not parse the JSON body of your request.')
}

async function readForm(call: Call): Promise<{ readonly body: Body } | Reply> {
  const type = call.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(type))
    return refuse(400, `Unsupported content type: '${type}'. This API method only accepts 'multipart/form-data' requests.`)
  try {
    const form = await new Response(new Uint8Array(call.body), { headers: { 'content-type': type } }).formData()
    const fields = [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) },
    ])
    return { body: Object.fromEntries(await Promise.all(fields)) as Body }
  } catch {
    return refuse(400, 'Could not parse multipart form')
  }
}
