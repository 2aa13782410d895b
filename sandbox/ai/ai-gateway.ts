import { spoilt } from '../faults.ts'
import type { Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { newId } from './taken.ts'

/** What the gateway calls a vendor, where its calls go, and what the gateway leaves out of their paths. */
const vendors: Readonly<Record<string, { readonly network: string; readonly under: string }>> = {
  openai: { network: 'openai', under: '/v1' },
  anthropic: { network: 'anthropic', under: '' },
}

/** What opens the gateway; any token that begins so. */
const goodToken = 'aig-sandbox-'

/** The hosting platform's gateway between us and vendors of models (https://developers.cloudflare.com/ai-gateway): it looks at its own token and passes calls on. */
export const aiGateway: Vendor = {
  title: 'AI Gateway',
  play: (name, deps): Network => ({
    name,
    takes: { mostBytes: 33 * 1024 * 1024 },
    received: query =>
      Object.values(vendors).flatMap(({ network }) =>
        deps
          .other(network)!
          .received(query)
          .filter(call => (call as { via?: string }).via === name),
      ),
    answer: call => answerTo(name, deps, call),
  }),
}

async function answerTo(name: string, deps: Deps, call: Call): Promise<Reply> {
  const [, vendor = '', rest = ''] = /^\/v1\/demo\/demo\/([^/]+)(\/.*)$/.exec(call.path) ?? []
  const place = Object.hasOwn(vendors, vendor) ? vendors[vendor] : undefined
  if (!place) return refuse(404, 7003, `Could not route to ${call.path}`)
  const [, token = ''] = /^Bearer (\S+)$/i.exec(String(call.headers['cf-aig-authorization'] ?? '')) ?? []
  if (!token.startsWith(goodToken)) return refuse(401, 2009, 'Unauthorized')
  const take = async (): Promise<Reply> => {
    const reply = await deps.other(place.network)!.answer({ ...call, path: place.under + rest, via: name })
    return { ...reply, headers: { ...reply.headers, 'cf-aig-log-id': newId(''), 'cf-aig-cache-status': 'MISS' } }
  }
  return call.method === 'POST'
    ? spoilt(deps.faults, name, { refuse: ({ status }) => refuse(status, 2014, 'The sandbox was told to refuse this.'), take })
    : take()
}

const refuse = (status: number, code: number, message: string): Reply => ({
  ...json(status, { success: false, result: [], messages: [], error: [{ code, message }] }, 'refused'),
  reason: message,
})
