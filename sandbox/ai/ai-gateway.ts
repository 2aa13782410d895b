import { spoilt } from '../faults.ts'
import type { Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { newId } from './taken.ts'

/** The network to which the gateway forwards a vendor's calls, and the path prefix that it adds. */
const vendors: Readonly<Record<string, { readonly network: string; readonly under: string }>> = {
  openai: { network: 'openai', under: '/v1' },
  anthropic: { network: 'anthropic', under: '' },
}

/** Prefix of every valid gateway token. */
const goodToken = 'aig-sandbox-'

/**
 * Stand-in for the hosting platform's gateway to vendors of models (https://developers.cloudflare.com/ai-gateway): it
 * checks its own token and forwards calls.
 */
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
